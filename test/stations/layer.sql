-- purpose: railway stations
-- reads: none
-- writes: layer.station
-- grain: one row per station
-- crs: EPSG:4326

create table layer.station (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  station_code text not null,
  name text not null,
  geom geometry(point, 4326) not null
) partition by list (release_id);
comment on table layer.station is 'Railway stations (RFI)';
comment on column layer.station.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.station.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.station.position is 'Line of the file, from 1.';
comment on column layer.station.station_code is 'Code of the station: S and five digits, text';
comment on column layer.station.name is 'Name of the station';
comment on column layer.station.geom is 'Position, EPSG:4326';
-- serves: stations near a position
create index on layer.station using gist (geom);
