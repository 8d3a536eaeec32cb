-- purpose: buildings of the national topographic database
-- reads: none
-- writes: layer.dbsn_building, layer.dbsn_extent
-- grain: one row per published polygon; one per member
-- crs: EPSG:4326

create table layer.dbsn_building (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  use text,
  type text,
  state text,
  level text,
  name text,
  origin text,
  counts bool not null,
  residential bool not null,
  area_m2 float8 not null,
  drawing uuid not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.dbsn_building is 'Buildings of the Database di sintesi nazionale (IGM).';
comment on column layer.dbsn_building.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.dbsn_building.member_id is 'Member that the row was read from (ledger.member): the layer of a geodatabase.';
comment on column layer.dbsn_building.position is 'Number of the feature in its layer, from 1.';
comment on column layer.dbsn_building.use is 'edifc_uso as published: codes starting with 01 are residential; null if none.';
comment on column layer.dbsn_building.type is 'edifc_ty as published; null if none.';
comment on column layer.dbsn_building.state is 'edifc_stat as published: 01 under construction, 02 ruin, 03 in use, 91 unknown; null if none.';
comment on column layer.dbsn_building.level is 'edifc_sot as published: 02 underground; null if none.';
comment on column layer.dbsn_building.name is 'edifc_nome; null if none or UNK.';
comment on column layer.dbsn_building.origin is 'meta_ist as published: the origin of IGM''s data. 03, 21 and 23 are OpenStreetMap; null if none.';
comment on column layer.dbsn_building.counts is 'False for a ruin and for a building under construction or underground.';
comment on column layer.dbsn_building.residential is 'True if the code of the use starts with 01.';
comment on column layer.dbsn_building.area_m2 is 'Footprint in square metres, EPSG:3035.';
comment on column layer.dbsn_building.drawing is 'Digest of the rings, equal for footprints with equal geometry.';
comment on column layer.dbsn_building.geom is 'The footprint made valid, EPSG:4326.';

create table layer.dbsn_extent (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  province text
) partition by list (release_id);

comment on table layer.dbsn_extent is 'Province of each layer of buildings, taken from names.';
comment on column layer.dbsn_extent.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.dbsn_extent.member_id is 'Member that the row was read from (ledger.member): the layer of a geodatabase.';
comment on column layer.dbsn_extent.position is 'Number of the member''s first feature.';
comment on column layer.dbsn_extent.province is 'Name or car plate code of the province, folded: the part before dbsn in the name of the geodatabase, otherwise of the file; null if neither has one.';
