-- purpose: the cadastral map of Trento: parcels, further pieces of parcels, roofs, and the boundaries of comuni catastali (C.C.)
-- reads: none
-- writes: layer.trento_parcel, layer.trento_piece, layer.trento_building, layer.trento_boundary
-- grain: one row per parcel; per further piece of a parcel; per roof piece; per boundary
-- crs: EPSG:4326, longitude latitude; drawn areas in the square metres of the file's projection

create table layer.trento_parcel (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null,
  reference text not null,
  roof text,
  pieces int4 not null,
  drawn_area_m2 float8 not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.trento_parcel is 'Parcels of the cadastral map of Trento, with their pieces merged';
comment on column layer.trento_parcel.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.trento_parcel.member_id is 'Member that the row was read from (ledger.member): the shapefile of the pieces.';
comment on column layer.trento_parcel.position is 'Number of the parcel''s main piece (P) in its shapefile, from 1; of its first piece if it has no P.';
comment on column layer.trento_parcel.ccat is 'Comune catastale, 3 digits';
comment on column layer.trento_parcel.code is 'Number of the parcel: 481/1 for land, .107/2 with a dot for a building parcel';
comment on column layer.trento_parcel.reference is 'IT.TN.<ccat>.<code>; unique in a release';
comment on column layer.trento_parcel.roof is 'PT_FABB of the piece at this position: S if under a roof, N if not; null if not stated';
comment on column layer.trento_parcel.pieces is 'Number of pieces that the parcel was merged from';
comment on column layer.trento_parcel.drawn_area_m2 is 'Area in the file''s projection, square metres';
comment on column layer.trento_parcel.made_valid is 'True when a published polygon was invalid and st_makevalid repaired it';
comment on column layer.trento_parcel.geom is 'Polygon, longitude latitude';

create table layer.trento_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null,
  roof text
) partition by list (release_id);
comment on table layer.trento_piece is 'Further pieces of the parcels of Trento, in addition to the piece in trento_parcel. Their area is part of the parcel';
comment on column layer.trento_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.trento_piece.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.trento_piece.position is 'Number of the piece in its shapefile, from 1.';
comment on column layer.trento_piece.ccat is 'Comune catastale, 3 digits';
comment on column layer.trento_piece.code is 'Number of the parcel that the piece belongs to';
comment on column layer.trento_piece.roof is 'PT_FABB: S if under a roof, N if not; null if not stated';

create table layer.trento_building (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null,
  reference text not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.trento_building is 'Pieces of the parcels of Trento under a roof (PT_FABB S)';
comment on column layer.trento_building.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.trento_building.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.trento_building.position is 'Number of the piece in its shapefile, from 1.';
comment on column layer.trento_building.ccat is 'Comune catastale, 3 digits';
comment on column layer.trento_building.code is 'Number of the parcel that the piece belongs to';
comment on column layer.trento_building.reference is 'Reference of the parcel';
comment on column layer.trento_building.geom is 'Polygon, longitude latitude';
-- serves: roofs on parcels
create index on layer.trento_building using gist (geom);

create table layer.trento_boundary (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  name text not null,
  name_other text,
  istat_code text,
  comune_name text,
  comune_name_other text,
  parcels int4 not null,
  drawn_area_m2 float8 not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.trento_boundary is 'Boundaries of the comuni catastali of Trento, each with its comune';
comment on column layer.trento_boundary.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.trento_boundary.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.trento_boundary.position is 'Number of the record in its shapefile, from 1.';
comment on column layer.trento_boundary.ccat is 'Comune catastale, 3 digits';
comment on column layer.trento_boundary.name is 'Italian name of the comune catastale, as published';
comment on column layer.trento_boundary.name_other is 'German name of the comune catastale; null if none';
comment on column layer.trento_boundary.istat_code is 'ISTAT code of the comune as published, 6 digits, possibly a former code; null if not stated';
comment on column layer.trento_boundary.comune_name is 'Italian name of the comune; null if not stated';
comment on column layer.trento_boundary.comune_name_other is 'German name of the comune; null if not stated';
comment on column layer.trento_boundary.parcels is 'Number of parcels (BD_SUMPART)';
comment on column layer.trento_boundary.drawn_area_m2 is 'Area in the file''s projection, square metres';
comment on column layer.trento_boundary.geom is 'Polygon, longitude latitude';
