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
  r.member_id,
  r.position,
  r.station_id,
  r.brand,
  r.type,
  r.name,
  r.address,
  r.comune,
  r.province,
  r.region_code,
  r.lat,
  r.lon,
  r.comune_key,
  r.street_types,
  r.street_words,
  r.number,
  r.exponent,
  r.colour,
  concat_ws(' ', r.province, r.comune_key) as place,
  reach.regions as regions_reached
from ranked as r
join reach using (file_id)
cross join release
where r.nth = 1;

drop table ranked;
drop table reach;
