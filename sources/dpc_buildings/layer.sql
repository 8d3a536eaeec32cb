-- purpose: footprints of structural aggregates
-- reads: none
-- writes: layer.dpc_building
-- grain: one row per published polygon
-- crs: EPSG:4326

create table layer.dpc_building (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  aggregate_id text not null,
  istat_code text not null,
  area_m2 float8 not null,
  drawing uuid not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.dpc_building is 'Structural aggregates of the Dipartimento della Protezione Civile: adjoining buildings, drawn as one. Their use is not stated.';
comment on column layer.dpc_building.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.dpc_building.member_id is 'Member that the row was read from (ledger.member): the shapefile.';
comment on column layer.dpc_building.position is 'Number of the feature in its shapefile, from 1.';
comment on column layer.dpc_building.aggregate_id is 'IDAG as published: region, comune, number; 20 digits, text.';
comment on column layer.dpc_building.istat_code is 'ISTAT code of the comune at the time of the survey, 6 digits, text. Part of IDAG.';
comment on column layer.dpc_building.area_m2 is 'Footprint in square metres, EPSG:3035.';
comment on column layer.dpc_building.drawing is 'Digest of the rings, equal for footprints with equal geometry.';
comment on column layer.dpc_building.geom is 'The footprint made valid, EPSG:4326.';
