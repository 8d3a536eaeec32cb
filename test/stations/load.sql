-- purpose: loads stations; repeated rows become duplicates
-- reads: staging.raw_station
-- writes: layer.station
-- grain: one row per station
-- crs: EPSG:4326

create table station as
select distinct on (s.station_code)
  r.release_id,
  s.member_id,
  s.position,
  s.station_code,
  s.name,
  st_setsrid(st_point(s.longitude, s.latitude), 4326)::geometry(point, 4326) as geom
from raw_station s
cross join release r
order by s.station_code, s.member_id, s.position;

create table duplicate as
select
  s.member_id,
  s.position,
  'station_repeated' as code
from raw_station s
where not exists (
  select
  from station t
  where t.member_id = s.member_id
    and t.position = s.position
);
