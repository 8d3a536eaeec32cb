-- purpose: fuel stations in the ministry's list
-- reads: none
-- writes: layer.fuel_station
-- grain: one row per station
-- crs: none; longitude and latitude in WGS 84 degrees as reported, without correction

create table layer.fuel_station (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  station_id text not null,
  brand text,
  type text,
  name text,
  address text,
  comune text,
  province text,
  region_code int2,
  lat float8,
  lon float8,
  comune_key text,
  street_types text[] not null,
  street_words text[] not null,
  number int4,
  exponent text,
  colour text,
  place text not null,
  regions_reached int2 not null
) partition by list (release_id);
comment on table layer.fuel_station is 'Active fuel stations (MIMIT), with the coordinates that they report. core.point_of_interest has the position of each station';
comment on column layer.fuel_station.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.fuel_station.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.fuel_station.position is 'Line of the file, from 1.';
comment on column layer.fuel_station.station_id is 'idImpianto';
comment on column layer.fuel_station.brand is 'Bandiera; null if not stated';
comment on column layer.fuel_station.type is 'Tipo Impianto: Stradale, Autostradale; null if not stated';
comment on column layer.fuel_station.name is 'Nome Impianto; null if not stated';
comment on column layer.fuel_station.address is 'Indirizzo as published, often with the postal code at its end; null if not stated';
comment on column layer.fuel_station.comune is 'Comune as published; null if not stated';
comment on column layer.fuel_station.province is 'Car plate code of the province as published, upper case; null if not stated';
comment on column layer.fuel_station.region_code is 'ISTAT region code of that plate code; null if no province has it';
comment on column layer.fuel_station.lat is 'Latitude as reported; null if not stated';
comment on column layer.fuel_station.lon is 'Longitude as reported; null if not stated';
comment on column layer.fuel_station.comune_key is 'Comune, normalised like core.comune_key; null if not stated';
comment on column layer.fuel_station.street_types is 'Types that the street of the address may have, normalised; empty if none is written';
comment on column layer.fuel_station.street_words is 'Different words of the street''s name, normalised, ascending; empty if no street is written';
comment on column layer.fuel_station.number is 'House number; null if none';
comment on column layer.fuel_station.exponent is 'Suffix of the house number, upper case; null if none';
comment on column layer.fuel_station.colour is 'ROSSO or NERO; null if not written';
comment on column layer.fuel_station.place is 'Province and comune as published. A newer part supersedes older ones of the same place';
comment on column layer.fuel_station.regions_reached is 'Number of regions of Italy, of 20, with rows in the file. With 15 and more, the file covers Italy';
