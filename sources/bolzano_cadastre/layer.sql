-- purpose: the cadastral map of Bolzano: parcels, the further records of parcels, and the comuni catastali (C.C.) that they are of
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
comment on table layer.bolzano_parcel is 'Parcels of the cadastral map of Bolzano; records of the same C.C. and number are united';
comment on column layer.bolzano_parcel.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_parcel.member_id is 'File member (ledger.member): the layer';
comment on column layer.bolzano_parcel.position is 'Number of its first record in the layer, from 1';
comment on column layer.bolzano_parcel.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_parcel.code is 'Number of the parcel: 481/1, or with a dot (.107/2) that of a building parcel';
comment on column layer.bolzano_parcel.reference is 'IT.BZ.<ccat>.<code>; unique in a file';
comment on column layer.bolzano_parcel.registered_area_m2 is 'Area as registered, square metres; not served, the drawn one is measured; null: none said';
comment on column layer.bolzano_parcel.pieces is 'How many records it was united from';
comment on column layer.bolzano_parcel.made_valid is 'True when a published polygon was invalid and st_makevalid mended it';
comment on column layer.bolzano_parcel.geom is 'Polygon, longitude latitude';

create table layer.bolzano_piece (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ccat text not null,
  code text not null
) partition by list (release_id);
comment on table layer.bolzano_piece is 'Records of the parcels of Bolzano beside the first; their ground is part of the parcel';
comment on column layer.bolzano_piece.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_piece.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.bolzano_piece.position is 'Number of the record in the layer, from 1';
comment on column layer.bolzano_piece.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_piece.code is 'Number of the parcel that it belongs to';

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
comment on table layer.bolzano_comune is 'Comuni catastali of Bolzano as their parcels name them, each with the comune that most of its parcels say';
comment on column layer.bolzano_comune.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.bolzano_comune.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.bolzano_comune.position is 'Number of the first record that says so, from 1';
comment on column layer.bolzano_comune.ccat is 'Code of the comune catastale, as written';
comment on column layer.bolzano_comune.name is 'Its Italian name; null: the file has none';
comment on column layer.bolzano_comune.name_other is 'Its German name; null: none said';
comment on column layer.bolzano_comune.istat_code is 'ISTAT code of its comune as published, 6 digits; it may be a former one; null: none said';
comment on column layer.bolzano_comune.comune_name is 'Italian name of its comune; null: the file has none';
comment on column layer.bolzano_comune.comune_name_other is 'German name of its comune; null: none said';
comment on column layer.bolzano_comune.parcels is 'Records that say so';
