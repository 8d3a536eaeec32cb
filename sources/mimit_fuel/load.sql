-- purpose: loads fuel stations; a station repeated in a file becomes a duplicate
-- reads: staging.raw_fuel_station
-- writes: layer.fuel_station
-- grain: one row per station
-- crs: none

create table ranked as
select
  raw.*,
  member.file_id,
  row_number() over (partition by member.file_id, raw.station_id order by raw.member_id, raw.position) as nth
from raw_fuel_station as raw
join member using (member_id);

create table reach as
select
  file_id,
  count(distinct region_code)::int2 as regions
from ranked
group by file_id;

create table duplicate as
select
  member_id,
  position,
  'station_repeated' as code
from ranked
where nth > 1;

create table fuel_station as
select
  release.release_id,
  raw.*,
  concat_ws(' ', raw.province, raw.comune_key) as place,
  reach.regions as regions_reached
from raw_fuel_station as raw
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
