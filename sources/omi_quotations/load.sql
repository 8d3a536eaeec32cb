-- purpose: loads OMI records, separates repeated records and repairs perimeters
-- reads: staging.raw_quotation, staging.raw_zone, staging.raw_perimeter
-- writes: layer.omi_quotation, layer.omi_zone, layer.omi_perimeter
-- grain: one row per used record
-- crs: EPSG:4326

-- A zip may contain a half-year several times (all Italy, and one comune requested later). A file contains either all rows of a comune or none. The
-- newest elaboration is therefore used for each comune, and rows that are missing from this elaboration are dropped. If two elaborations have the same
-- date, the first member is used. A dropped row is `repeated` if it equals the used row, and `superseded` otherwise. If all rows of a key are missing
-- from the newest elaboration, no row is used and all these rows are superseded.
create table quotation_ranked as
select
  q.*,
  row_number() over key as rank,
  q.elaborated = max(q.elaborated) over (partition by m.file_id, q.half_year, q.belfiore) as newest,
  row(q.belfiore, q.zona, q.fascia, q.stato_prev, q.purchase_min_eur_m2, q.purchase_max_eur_m2, q.purchase_surface, q.rental_min_eur_m2_month, q.rental_max_eur_m2_month, q.rental_surface)::text
    = first_value(row(q.belfiore, q.zona, q.fascia, q.stato_prev, q.purchase_min_eur_m2, q.purchase_max_eur_m2, q.purchase_surface, q.rental_min_eur_m2_month, q.rental_max_eur_m2_month, q.rental_surface)::text) over key
    and first_value(q.elaborated) over key = max(q.elaborated) over (partition by m.file_id, q.half_year, q.belfiore) as same
from raw_quotation q
join member m using (member_id)
window key as (
  partition by m.file_id, q.half_year, q.link_zona, q.cod_tip, q.stato
  order by q.elaborated desc, q.member_id, q.position
);

create table zone_ranked as
select
  z.*,
  row_number() over key as rank,
  z.elaborated = max(z.elaborated) over (partition by m.file_id, z.half_year, z.belfiore) as newest,
  row(z.link_zona, z.fascia, z.description, z.prevalent_cod_tip, z.prevalent_stato, z.microzona)::text
    = first_value(row(z.link_zona, z.fascia, z.description, z.prevalent_cod_tip, z.prevalent_stato, z.microzona)::text) over key
    and first_value(z.elaborated) over key = max(z.elaborated) over (partition by m.file_id, z.half_year, z.belfiore) as same
from raw_zone z
join member m using (member_id)
window key as (
  partition by m.file_id, z.half_year, z.belfiore, z.zona
  order by z.elaborated desc, z.member_id, z.position
);

-- Overlapping parts are merged into one zone (method=structure) instead of cutting holes into each other. The first perimeter with an area
-- is used among the perimeters of a zone with the newest generation date. Perimeters without an area are last in the ranking.
create table perimeter_ranked as
with repaired as materialized (
  select
    p.member_id,
    p.position,
    m.file_id,
    p.semester,
    p.half_year,
    p.generated,
    p.belfiore,
    p.zona,
    p.geom as published,
    not st_isvalid(p.geom) as made_valid,
    case
      when st_isvalid(p.geom) then p.geom
      else st_multi(st_collectionextract(st_makevalid(p.geom, 'method=structure'), 3))::geometry(multipolygon, 4326)
    end as geom
  from raw_perimeter p
  join member m using (member_id)
)
select
  p.*,
  row_number() over key as rank,
  p.generated is not distinct from max(p.generated) over (partition by p.file_id, p.half_year, p.belfiore) as newest,
  st_asbinary(p.published) = first_value(st_asbinary(p.published)) over key
    and first_value(p.generated) over key is not distinct from max(p.generated) over (partition by p.file_id, p.half_year, p.belfiore) as same
from repaired p
window key as (
  partition by p.file_id, p.half_year, p.belfiore, p.zona
  order by p.generated desc nulls last, st_isempty(p.geom), p.member_id, p.position
);

create table omi_quotation as
select
  r.release_id,
  q.member_id,
  q.position,
  q.semester,
  q.half_year,
  q.elaborated,
  q.region_code,
  q.belfiore,
  q.comune_name,
  q.fascia,
  q.zona,
  q.link_zona,
  q.cod_tip,
  q.type,
  q.stato,
  q.stato_prev,
  q.purchase_min_eur_m2,
  q.purchase_max_eur_m2,
  q.purchase_surface,
  q.rental_min_eur_m2_month,
  q.rental_max_eur_m2_month,
  q.rental_surface
from quotation_ranked q
cross join release r
where q.rank = 1
  and q.newest
order by q.half_year, q.belfiore collate "C", q.zona collate "C", q.cod_tip, q.stato collate "C";

create table omi_zone as
select
  r.release_id,
  z.member_id,
  z.position,
  z.semester,
  z.half_year,
  z.elaborated,
  z.region_code,
  z.belfiore,
  z.comune_name,
  z.fascia,
  z.zona,
  z.link_zona,
  z.description,
  z.prevalent_cod_tip,
  z.prevalent_type,
  z.prevalent_stato,
  z.microzona
from zone_ranked z
cross join release r
where z.rank = 1
  and z.newest
order by z.half_year, z.belfiore collate "C", z.zona collate "C";

create table omi_perimeter as
select
  r.release_id,
  p.member_id,
  p.position,
  p.semester,
  p.half_year,
  p.generated,
  p.belfiore,
  p.zona,
  p.made_valid,
  p.geom
from perimeter_ranked p
cross join release r
where p.rank = 1
  and p.newest
  and not st_isempty(p.geom)
order by p.half_year, p.belfiore collate "C", p.zona collate "C";

-- serves: sections, for the perimeters that overlap a region
create index on omi_perimeter using gist (geom);

create table duplicate as
select member_id, position, case when same and rank > 1 then 'quotation_repeated' else 'quotation_superseded' end as code
from quotation_ranked
where rank > 1
  or not newest
union all
select member_id, position, case when same and rank > 1 then 'zone_repeated' else 'zone_superseded' end
from zone_ranked
where rank > 1
  or not newest
union all
select member_id, position, case when same and rank > 1 then 'perimeter_repeated' else 'perimeter_superseded' end
from perimeter_ranked
where not newest
  or (rank > 1 and not st_isempty(geom));

create table reject as
select
  p.member_id,
  p.position,
  'perimeter_without_area' as code,
  'expected a polygon with an area, found none after the repair' as message,
  '<Placemark><ExtendedData><Data name="CODCOM"><value>' || p.belfiore || '</value></Data><Data name="CODZONA"><value>' || p.zona || '</value></Data></ExtendedData>'
    || st_askml(p.published, 6) || '</Placemark>' as raw
from perimeter_ranked p
where p.newest
  and st_isempty(p.geom);

drop table quotation_ranked, zone_ranked, perimeter_ranked;
