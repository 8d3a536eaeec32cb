-- purpose: merges records into parcels and loads the comuni catastali (C.C.)
-- reads: staging.raw_parcel
-- writes: layer.bolzano_parcel, layer.bolzano_piece, layer.bolzano_comune, reject
-- grain: one row per parcel; one per further record of a parcel; one per member and comune catastale (C.C.)
-- crs: from the file's CRS to EPSG:4326

-- Repair invalid geometries. Sort the rings, because their order depends on the version of GEOS.
create unlogged table repaired as
select
  member_id,
  position,
  st_normalize(st_multi(st_collectionextract(st_makevalid(geom), 3))) as geom
from raw_parcel
where not st_isvalid(geom);

create table reject as
select
  r.member_id,
  r.position,
  'geometry_empty' as code,
  'expected a polygon with an area, found ' || st_isvalidreason(r.geom) as message,
  r.ccat || '.' || r.code || ' ' || st_asewkt(r.geom) as raw
from repaired m
join raw_parcel r using (member_id, position)
where st_isempty(m.geom);

create unlogged table piece as
select
  p.member_id,
  p.position,
  p.ccat,
  p.code,
  p.registered_area_m2,
  m.member_id is not null as made_valid,
  st_multi(coalesce(m.geom, p.geom)) as geom,
  row_number() over (partition by p.member_id, p.ccat, p.code order by p.position) as nth,
  count(*) over (partition by p.member_id, p.ccat, p.code) as pieces
from raw_parcel p
left join repaired m using (member_id, position)
where not coalesce(st_isempty(m.geom), false);

-- Edges are split into segments of at most 200 m before they are reprojected. See core.in_degrees. Geometries in degrees are not split.
create table bolzano_parcel as
with drawn as (
  select
    p.member_id,
    p.position,
    p.ccat,
    p.code,
    p.registered_area_m2,
    p.pieces,
    coalesce(u.made_valid, p.made_valid) as made_valid,
    coalesce(u.geom, p.geom) as geom
  from piece p
  left join (
    select
      member_id,
      ccat,
      code,
      bool_or(made_valid) as made_valid,
      st_normalize(st_multi(st_union(geom order by nth))) as geom
    from piece
    where pieces > 1
    group by member_id, ccat, code
  ) u using (member_id, ccat, code)
  where p.nth = 1
)
select
  release.release_id,
  d.member_id,
  d.position,
  d.ccat,
  d.code,
  'IT.BZ.' || d.ccat || '.' || d.code as reference,
  d.registered_area_m2,
  d.pieces::int4 as pieces,
  d.made_valid,
  core.in_degrees(d.geom, 200)::geometry(multipolygon, 4326) as geom
from drawn d
cross join release;

create table bolzano_piece as
select
  release.release_id,
  p.member_id,
  p.position,
  p.ccat,
  p.code
from piece p
cross join release
where p.nth > 1;

create table bolzano_comune as
select distinct on (c.member_id, c.ccat)
  release.release_id,
  c.member_id,
  c.position,
  c.ccat,
  c.name,
  c.name_other,
  c.istat_code,
  c.comune_name,
  c.comune_name_other,
  c.parcels
from (
  select
    member_id,
    ccat,
    name,
    name_other,
    istat_code,
    comune_name,
    comune_name_other,
    min(position) as position,
    count(*)::int4 as parcels
  from raw_parcel
  group by member_id, ccat, name, name_other, istat_code, comune_name, comune_name_other
) c
cross join release
order by c.member_id, c.ccat, c.parcels desc, c.position;

drop table repaired, piece;
