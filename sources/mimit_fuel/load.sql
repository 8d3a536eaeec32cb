-- purpose: loads fuel stations; a repeated station becomes a duplicate
-- reads: staging.raw_fuel_station
-- writes: layer.fuel_station
-- grain: one row per station
-- crs: none

create table reach as
select
  file_id,
  count(distinct raw_fuel_station.region_code)::int2 as regions
from raw_fuel_station
join member using (member_id)
group by file_id;

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
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);

drop table reach;
