-- purpose: loads places of culture; a repeated place, for example with a second category, becomes a duplicate
-- reads: staging.raw_cultural_place, core.region_box
-- writes: layer.cultural_place
-- grain: one row per place
-- crs: none

create table reach as
select
  file_id,
  count(distinct box.region_code)::int2 as regions
from raw_cultural_place as r
join member using (member_id)
left join core.region_box as box on st_covers(box.geom, st_setsrid(st_makepoint(r.lon, r.lat), 4326))
group by file_id;

create table cultural_place as
select
  release.release_id,
  raw.*,
  concat_ws(' ', core.upper_case(raw.province), raw.comune_key) as place,
  reach.regions as regions_reached
from raw_cultural_place as raw
join member using (member_id)
join reach using (file_id)
cross join release
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);

drop table reach;
