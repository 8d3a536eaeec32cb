-- purpose: land cover of CORINE, its pieces for joins, the names of its classes, and the area that it covers
-- reads: none
-- writes: layer.land_cover_polygon, layer.land_cover_piece, layer.land_cover_class, layer.land_cover_reach
-- grain: one row per published polygon; one per piece of it; one per class of a member; one per member
-- crs: EPSG:4326

create table layer.land_cover_polygon (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  clc_id text,
  code text not null,
  area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.land_cover_polygon is 'Land cover of CORINE 2018 in and around Italy: polygons of 25 ha and more without gaps or overlaps, as published. Polygons outside Italy are not kept.';
comment on column layer.land_cover_polygon.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_cover_polygon.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.land_cover_polygon.position is 'Number of the feature in its layer, from 1.';
comment on column layer.land_cover_polygon.clc_id is 'The publisher''s identifier of the polygon; null if the file has none.';
comment on column layer.land_cover_polygon.code is 'Class of the third level, 3 digits, 111 to 523.';
comment on column layer.land_cover_polygon.area_m2 is 'Area in square metres, EPSG:3035.';
comment on column layer.land_cover_polygon.geom is 'The polygon made valid, EPSG:4326.';

create table layer.land_cover_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  code text not null,
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.land_cover_piece is 'The same polygons cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one polygon do not overlap.';
comment on column layer.land_cover_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_cover_piece.member_id is 'As in land_cover_polygon.';
comment on column layer.land_cover_piece.position is 'As in land_cover_polygon. Many pieces share it.';
comment on column layer.land_cover_piece.code is 'As in land_cover_polygon.';
comment on column layer.land_cover_piece.geom is 'The piece, EPSG:4326.';

create table layer.land_cover_class (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  code text not null,
  description text not null
) partition by list (release_id);

comment on table layer.land_cover_class is 'Names of the classes that a member has.';
comment on column layer.land_cover_class.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_cover_class.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.land_cover_class.position is 'Number of the member''s first feature of the class.';
comment on column layer.land_cover_class.code is 'As in land_cover_polygon.';
comment on column layer.land_cover_class.description is 'Name of the class in the Italian nomenclature.';

create table layer.land_cover_reach (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  regions int2[] not null
) partition by list (release_id);

comment on table layer.land_cover_reach is 'Area that the polygons of each member cover. Outside it the land cover is unknown.';
comment on column layer.land_cover_reach.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_cover_reach.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.land_cover_reach.position is 'Number of the member''s first feature that was kept.';
comment on column layer.land_cover_reach.regions is 'ISTAT codes of the regions whose boxes (core.region_box) a polygon reaches.';
