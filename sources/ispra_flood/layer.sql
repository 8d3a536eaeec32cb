-- purpose: flood hazard areas, their pieces for joins, and the area that each scenario covers
-- reads: none
-- writes: layer.flood_hazard, layer.flood_hazard_piece, layer.flood_coverage
-- grain: one row per published polygon; one per piece of it; one per scenario and member
-- crs: EPSG:4326

create table layer.flood_hazard (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  class text not null,
  scenario text,
  area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.flood_hazard is 'Flood hazard areas of the ISPRA mosaic (D.Lgs. 49/2010). The classes are nested: an area of P3 is also in P2 and P1, so their areas must not be added up.';
comment on column layer.flood_hazard.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.flood_hazard.member_id is 'Member that the row was read from (ledger.member): the shapefile.';
comment on column layer.flood_hazard.position is 'Number of the feature in its shapefile, from 1.';
comment on column layer.flood_hazard.class is 'P3: floods of 20–50 years; P2: 100–200 years; P1: 200–500 years or extreme; HPH: an area whose class is missing from both the text and the file name.';
comment on column layer.flood_hazard.scenario is 'Text that states the class, verbatim; null if none, then the class is that of the file.';
comment on column layer.flood_hazard.area_m2 is 'Area in square metres, EPSG:3035.';
comment on column layer.flood_hazard.geom is 'The polygon made valid, EPSG:4326, with up to some million vertices. Join with flood_hazard_piece instead.';

create table layer.flood_hazard_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  class text not null,
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.flood_hazard_piece is 'The same areas cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one area do not overlap.';
comment on column layer.flood_hazard_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.flood_hazard_piece.member_id is 'As in flood_hazard.';
comment on column layer.flood_hazard_piece.position is 'As in flood_hazard. Many pieces share it.';
comment on column layer.flood_hazard_piece.class is 'As in flood_hazard.';
comment on column layer.flood_hazard_piece.geom is 'The piece, EPSG:4326.';

create table layer.flood_coverage (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  class text not null,
  missing_provinces text[] not null,
  regions int2[] not null
) partition by list (release_id);

comment on table layer.flood_coverage is 'Scenarios of each member, the regions that they cover, and the provinces where they were not mapped. In such a province a place without an area of the class is not free of it: its class is unknown.';
comment on column layer.flood_coverage.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.flood_coverage.member_id is 'Member with the class.';
comment on column layer.flood_coverage.position is 'Number of the first feature of the class in the member.';
comment on column layer.flood_coverage.class is 'P1, P2 or P3; HPH for areas without a class, which map no scenario.';
comment on column layer.flood_coverage.missing_provinces is 'ISTAT codes (3 digits) of the provinces where the authorities delivered no map of this scenario; empty if mapped everywhere.';
comment on column layer.flood_coverage.regions is 'ISTAT codes of the regions whose boxes (core.region_box) an area of the class overlaps.';
