-- purpose: separates repeated pairs, reprojects areas to EPSG:4326 and repairs them
-- reads: staging.raw_postal_code, staging.raw_postal_code_area
-- writes: layer.comune_postal_code, layer.postal_code_area
-- grain: one row per pair, and one row per polygon
-- crs: EPSG:4326

create table pair_ranked as
select
  p.*,
  row_number() over (
    partition by m.file_id, p.belfiore, p.istat_code, p.cap
    order by p.member_id, p.position
  ) as rank
from raw_postal_code p
join member m using (member_id);

create table comune_postal_code as
select
  r.release_id,
  p.member_id,
  p.position,
  p.edition,
  p.belfiore,
  p.istat_code,
  p.cap
from pair_ranked p
cross join release r
where p.rank = 1
order by p.belfiore collate "C", p.istat_code collate "C", p.cap collate "C";

create table area_repaired as
select
  a.member_id,
  a.position,
  a.edition,
  a.cap,
  not st_isvalid(a.geom) as made_valid,
  st_multi(st_collectionextract(
    case when st_isvalid(a.geom) then a.geom else st_makevalid(a.geom, 'method=structure') end,
    3
  )) as geom
from (
  select
    member_id,
    position,
    edition,
    cap,
    core.in_degrees(geom, 200) as geom
  from raw_postal_code_area
) a;

create table postal_code_area as
select
  r.release_id,
  a.member_id,
  a.position,
  a.edition,
  a.cap,
  a.made_valid,
  a.geom::geometry(multipolygon, 4326) as geom
from area_repaired a
cross join release r
where not st_isempty(a.geom)
order by a.cap collate "C", a.member_id, a.position;

-- serves: sections, for the areas that overlap a region
create index on postal_code_area using gist (geom);

create table duplicate as
select
  member_id,
  position,
  'pair_repeated' as code
from pair_ranked
where rank > 1;

create table reject as
select
  member_id,
  position,
  'area_empty' as code,
  'expected a polygon with an area, found none after the repair' as message,
  json_build_object('cap', cap)::text as raw
from area_repaired
where st_isempty(geom);

drop table pair_ranked, area_repaired;
