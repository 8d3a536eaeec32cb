-- purpose: postal codes of comuni, and their areas
-- reads: none
-- writes: layer.comune_postal_code, layer.postal_code_area
-- grain: one row per pair of comune and postal code; per polygon
-- crs: EPSG:4326, longitude latitude

create table layer.comune_postal_code (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  edition text not null,
  belfiore text,
  istat_code text,
  cap text not null
) partition by list (release_id);
comment on table layer.comune_postal_code is 'Postal codes (CAP) of comuni as supplied by the operator, not an official list';
comment on column layer.comune_postal_code.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.comune_postal_code.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.comune_postal_code.position is 'Line of the CSV, or number of the pair in the JSON, from 1.';
comment on column layer.comune_postal_code.edition is 'Edition in the file name; 0000 if it has none';
comment on column layer.comune_postal_code.belfiore is 'Cadastral code of the comune; null if the file has only the ISTAT code';
comment on column layer.comune_postal_code.istat_code is 'ISTAT code of the comune, 6 digits; null if the file has only the cadastral code';
comment on column layer.comune_postal_code.cap is 'Postal code, 5 digits, text';

create table layer.postal_code_area (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  edition text not null,
  cap text not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.postal_code_area is 'Areas of postal codes as supplied by the operator; there are no official areas';
comment on column layer.postal_code_area.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.postal_code_area.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.postal_code_area.position is 'Number of the feature in the file, from 1.';
comment on column layer.postal_code_area.edition is 'Edition in the file name; 0000 if it has none';
comment on column layer.postal_code_area.cap is 'Postal code, 5 digits, text';
comment on column layer.postal_code_area.made_valid is 'True if the polygon was invalid and was repaired';
comment on column layer.postal_code_area.geom is 'Polygon, EPSG:4326 longitude latitude';
