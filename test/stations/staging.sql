-- purpose: stations as they were read
-- reads: none
-- writes: staging.raw_station
-- grain: one row per accepted record
-- crs: degrees, EPSG:4326

create unlogged table raw_station (
  member_id int4 not null,
  position int8 not null,
  station_code text not null,
  name text not null,
  latitude float8 not null,
  longitude float8 not null
);
