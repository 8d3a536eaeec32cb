-- purpose: loads places of culture; a place repeated in a file, as for a second category, becomes a duplicate
-- reads: staging.raw_cultural_place, core.region_box
-- writes: layer.cultural_place
-- grain: one row per place
-- crs: none

create table ranked as
select
  raw.*,
  member.file_id,
  row_number() over (partition by member.file_id, raw.place_id order by raw.member_id, raw.position) as nth
from raw_cultural_place as raw
join member using (member_id);

create table reach as
select
  r.file_id,
  count(distinct box.region_code)::int2 as regions
from ranked as r
left join core.region_box as box on st_covers(box.geom, st_setsrid(st_makepoint(r.lon, r.lat), 4326))
group by r.file_id;

create table duplicate as
select
  member_id,
  position,
  'place_repeated' as code
from ranked
where nth > 1;

create table cultural_place as
select
  release.release_id,
  r.member_id,
  r.position,
  r.place_id,
  r.name,
  r.type,
  r.class,
  r.address,
  r.comune,
  r.province,
  r.region_code,
  r.lat,
  r.lon,
  r.catalog_code,
  r.comune_key,
  r.street_types,
  r.street_words,
  r.number,
  r.exponent,
  r.colour,
  concat_ws(' ', core.upper_case(r.province), r.comune_key) as place,
  reach.regions as regions_reached
from ranked as r
join reach using (file_id)
cross join release
where r.nth = 1;

drop table ranked;
drop table reach;
