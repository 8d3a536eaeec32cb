-- purpose: the cadastral map of Bolzano: parcels, further records of parcels, and their comuni catastali (C.C.)
-- reads: none
-- writes: layer.bolzano_parcel, layer.bolzano_piece, layer.bolzano_comune
-- grain: one row per parcel; per further record of a parcel; per member and C.C.
-- crs: EPSG:4326, longitude latitude

create table layer.bolzano_parcel (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null,
  reference text not null,
  registered_area_m2 float8,
  pieces int4 not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.bolzano_parcel is 'Parcels of the cadastral map of Bolzano; records of the same C.C. and number are merged';
comment on column layer.bolzano_parcel.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_parcel.member_id is 'Member that the row was read from (ledger.member): the layer.';
comment on column layer.bolzano_parcel.position is 'Number of the parcel''s first record in the layer, from 1.';
comment on column layer.bolzano_parcel.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_parcel.code is 'Number of the parcel: 481/1 for land, .107/2 with a dot for a building parcel';
comment on column layer.bolzano_parcel.reference is 'IT.BZ.<ccat>.<code>; unique in a file';
comment on column layer.bolzano_parcel.registered_area_m2 is 'Registered area in square metres. Not served, because the drawn area is measured; null if not stated';
comment on column layer.bolzano_parcel.pieces is 'Number of records that the parcel was merged from';
comment on column layer.bolzano_parcel.made_valid is 'True when a published polygon was invalid and st_makevalid repaired it';
comment on column layer.bolzano_parcel.geom is 'Polygon, longitude latitude';

create table layer.bolzano_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null
) partition by list (release_id);
comment on table layer.bolzano_piece is 'Further records of the parcels of Bolzano, after the first. Their area is part of the parcel';
comment on column layer.bolzano_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_piece.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.bolzano_piece.position is 'Number of the record in the layer, from 1.';
comment on column layer.bolzano_piece.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_piece.code is 'Number of the parcel that the record belongs to';

create table layer.bolzano_comune (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  name text,
  name_other text,
  istat_code text,
  comune_name text,
  comune_name_other text,
  parcels int4 not null
) partition by list (release_id);
comment on table layer.bolzano_comune is 'Comuni catastali of Bolzano as named by their parcels, each with the comune that most of its parcels name';
comment on column layer.bolzano_comune.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_comune.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.bolzano_comune.position is 'Number of the first record with these values, from 1';
comment on column layer.bolzano_comune.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_comune.name is 'Italian name of the comune catastale; null if the file has none';
comment on column layer.bolzano_comune.name_other is 'German name of the comune catastale; null if not stated';
comment on column layer.bolzano_comune.istat_code is 'ISTAT code of the comune as published, 6 digits, possibly a former code; null if not stated';
comment on column layer.bolzano_comune.comune_name is 'Italian name of the comune; null if the file has none';
comment on column layer.bolzano_comune.comune_name_other is 'German name of the comune; null if not stated';
comment on column layer.bolzano_comune.parcels is 'Number of records with these values';
