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
  raw.*,
  concat_ws(' ', core.upper_case(raw.province), raw.comune_key) as place,
  reach.regions as regions_reached
from raw_cultural_place as raw
join member using (member_id)
join reach using (file_id)
cross join release
where not exists (
  select
  from duplicate
  where duplicate.member_id = raw.member_id
    and duplicate.position = raw.position
);

drop table ranked;
drop table reach;
