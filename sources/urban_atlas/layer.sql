-- purpose: land use of the Urban Atlas, its pieces for joins, the names of its classes, and the mapped urban areas
-- reads: none
-- writes: layer.land_use_polygon, layer.land_use_piece, layer.land_use_class, layer.urban_boundary, layer.urban_boundary_piece
-- grain: one row per published polygon; one per piece of it; one per class of a member; one per boundary; one per piece of it
-- crs: EPSG:4326

create table layer.land_use_polygon (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  fua_code text not null,
  code text not null,
  class text,
  area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.land_use_polygon is 'Land use of the Urban Atlas 2018: polygons of 0.25 ha and more (1 ha outside the towns) that fill a functional urban area without overlaps, as published.';
comment on column layer.land_use_polygon.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_use_polygon.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.land_use_polygon.position is 'Number of the feature in its layer, from 1.';
comment on column layer.land_use_polygon.fua_code is 'The publisher''s code of the functional urban area: IT025L3.';
comment on column layer.land_use_polygon.code is 'Class, 5 digits, 11100 to 50000.';
comment on column layer.land_use_polygon.class is 'Name of the class as published; null if not published.';
comment on column layer.land_use_polygon.area_m2 is 'Area in square metres, EPSG:3035.';
comment on column layer.land_use_polygon.geom is 'The polygon made valid, EPSG:4326.';

create table layer.land_use_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  code text not null,
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.land_use_piece is 'The same polygons cut into pieces of at most 256 vertices, for joins with parcels. Pieces of one polygon do not overlap.';
comment on column layer.land_use_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_use_piece.member_id is 'As in land_use_polygon.';
comment on column layer.land_use_piece.position is 'As in land_use_polygon. Many pieces share it.';
comment on column layer.land_use_piece.code is 'As in land_use_polygon.';
comment on column layer.land_use_piece.geom is 'The piece, EPSG:4326.';

create table layer.land_use_class (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  code text not null,
  class text not null
) partition by list (release_id);

comment on table layer.land_use_class is 'Names of the classes, each as first spelled in the member.';
comment on column layer.land_use_class.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.land_use_class.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.land_use_class.position is 'Number of the member''s first feature of the class with a name.';
comment on column layer.land_use_class.code is 'As in land_use_polygon.';
comment on column layer.land_use_class.class is 'As in land_use_polygon.';

create table layer.urban_boundary (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.urban_boundary is 'Boundaries of the mapped functional urban areas. Outside them the land use is unknown.';
comment on column layer.urban_boundary.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.urban_boundary.member_id is 'Member that the row was read from (ledger.member): the layer.';
comment on column layer.urban_boundary.position is 'Number of the feature in its layer, from 1.';
comment on column layer.urban_boundary.area_m2 is 'Area in square metres, EPSG:3035.';
comment on column layer.urban_boundary.geom is 'The boundary made valid, EPSG:4326.';

create table layer.urban_boundary_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.urban_boundary_piece is 'The same boundaries cut into pieces of at most 256 vertices, for joins with parcels.';
comment on column layer.urban_boundary_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.urban_boundary_piece.member_id is 'As in urban_boundary.';
comment on column layer.urban_boundary_piece.position is 'As in urban_boundary. Many pieces share it.';
comment on column layer.urban_boundary_piece.geom is 'The piece, EPSG:4326.';
