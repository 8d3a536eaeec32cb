-- purpose: landslide hazard areas of the PAI, their pieces for joins, and the area that they cover
-- reads: none
-- writes: layer.landslide_hazard, layer.landslide_hazard_piece, layer.landslide_coverage
-- grain: one row per published polygon; one per piece of it; one per member
-- crs: EPSG:4326

create table layer.landslide_hazard (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  class text,
  label text,
  area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.landslide_hazard is 'Landslide hazard areas of the ISPRA mosaic of the PAI. Areas of neighbouring basin authorities overlap and disagree. The worst class counts. The authorities'' scales are not harmonised.';
comment on column layer.landslide_hazard.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.landslide_hazard.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.landslide_hazard.position is 'Number of the feature in its layer, from 1.';
comment on column layer.landslide_hazard.class is 'P4 very high, P3 high, P2 medium, P1 moderate, AA area of attention; null: not determined by the publisher (Pn.d. or no text), which does not mean none.';
comment on column layer.landslide_hazard.label is 'per_fr_ita verbatim; null if none.';
comment on column layer.landslide_hazard.area_m2 is 'Area in square metres, EPSG:3035.';
comment on column layer.landslide_hazard.geom is 'The polygon made valid, EPSG:4326.';

create table layer.landslide_hazard_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  class text,
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.landslide_hazard_piece is 'The same areas cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one area do not overlap.';
comment on column layer.landslide_hazard_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.landslide_hazard_piece.member_id is 'As in landslide_hazard.';
comment on column layer.landslide_hazard_piece.position is 'As in landslide_hazard. Many pieces share it.';
comment on column layer.landslide_hazard_piece.class is 'As in landslide_hazard.';
comment on column layer.landslide_hazard_piece.geom is 'The piece, EPSG:4326.';

create table layer.landslide_coverage (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  regions int2[] not null
) partition by list (release_id);

comment on table layer.landslide_coverage is 'Regions that the areas of each member cover. Outside them a place without an area is not free of landslides: its hazard is unknown.';
comment on column layer.landslide_coverage.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.landslide_coverage.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.landslide_coverage.position is 'Number of the member''s first feature.';
comment on column layer.landslide_coverage.regions is 'ISTAT codes of the regions whose boxes (core.region_box) an area overlaps.';
