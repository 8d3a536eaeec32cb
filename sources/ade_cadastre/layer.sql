-- purpose: the cadastral map: parcels and the sheets that contain them
-- reads: none
-- writes: layer.cadastral_parcel, layer.cadastral_sheet
-- grain: one row per parcel, one row per sheet
-- crs: EPSG:4326

create table layer.cadastral_parcel (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  belfiore text not null,
  section text,
  sheet text not null,
  attachment text not null,
  development text not null,
  label text not null,
  reference text not null,
  gml_id text not null,
  kind text not null,
  made_valid bool not null,
  administrative_unit text,
  file_belfiore text,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.cadastral_parcel is 'Parcels of the Catasto Terreni (Agenzia delle Entrate, cartografia catastale), including road and water, which are mapped like parcels.';
comment on column layer.cadastral_parcel.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.cadastral_parcel.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.cadastral_parcel.position is 'Byte offset of the wfs:member in its GML document.';
comment on column layer.cadastral_parcel.belfiore is 'Cadastral code of the comune in the reference (CCCC)';
comment on column layer.cadastral_parcel.section is 'Letter of the sezione censuaria (Z); null if the comune has none';
comment on column layer.cadastral_parcel.sheet is 'Sheet (foglio, FFFF), four digits with zeros';
comment on column layer.cadastral_parcel.attachment is 'Attachment (allegato, A): 0 if none, otherwise its digit or letter; Q for a quadro d''unione';
comment on column layer.cadastral_parcel.development is 'Development (sviluppo, S): 0 if none, otherwise its digit or letter; U for a quadro d''unione';
comment on column layer.cadastral_parcel.label is 'Label on the map: a number, a letter, STRADAnnn or ACQUAnnn';
comment on column layer.cadastral_parcel.reference is 'National cadastral reference, CCCCZFFFFAS.label; unique in a release';
comment on column layer.cadastral_parcel.gml_id is 'Identifier of the feature as published';
comment on column layer.cadastral_parcel.kind is 'road (STRADAnnn), water (ACQUAnnn), otherwise land';
comment on column layer.cadastral_parcel.made_valid is 'True when the published polygon was invalid and st_makevalid repaired it';
comment on column layer.cadastral_parcel.administrative_unit is 'Comune named by ADMINISTRATIVEUNIT; null if it is the comune of the reference';
comment on column layer.cadastral_parcel.file_belfiore is 'Comune in the file name; null if it is the comune of the reference or the name has none';
comment on column layer.cadastral_parcel.geom is 'Polygon on the map, longitude latitude';

create table layer.cadastral_sheet (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  belfiore text not null,
  section text,
  sheet text not null,
  attachment text not null,
  development text not null,
  label text not null,
  reference text not null,
  gml_id text not null,
  begin_date date,
  end_date date,
  scale_denominator int4,
  made_valid bool not null,
  administrative_unit text,
  file_belfiore text,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.cadastral_sheet is 'Sheets (fogli di mappa) of the Catasto Terreni, with their attachments and developments';
comment on column layer.cadastral_sheet.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.cadastral_sheet.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.cadastral_sheet.position is 'Byte offset of the wfs:member in its GML document.';
comment on column layer.cadastral_sheet.belfiore is 'Cadastral code of the comune in the reference (CCCC)';
comment on column layer.cadastral_sheet.section is 'Letter of the sezione censuaria (Z); null if the comune has none';
comment on column layer.cadastral_sheet.sheet is 'Sheet (foglio, FFFF), four digits with zeros';
comment on column layer.cadastral_sheet.attachment is 'Attachment (allegato, A): 0 if none, otherwise its digit or letter; Q for a quadro d''unione';
comment on column layer.cadastral_sheet.development is 'Development (sviluppo, S): 0 if none, otherwise its digit or letter; U for a quadro d''unione';
comment on column layer.cadastral_sheet.label is 'Label on the map, such as 13 or 13A';
comment on column layer.cadastral_sheet.reference is 'National cadastral reference of the sheet, CCCCZFFFFAS; unique in a release';
comment on column layer.cadastral_sheet.gml_id is 'Identifier of the feature as published';
comment on column layer.cadastral_sheet.begin_date is 'First day on which this version is valid; null if not published';
comment on column layer.cadastral_sheet.end_date is 'Last day on which this version was valid; null if it is still valid or the day is not published';
comment on column layer.cadastral_sheet.scale_denominator is 'Scale of the original map, 1000 for 1:1000; null if not published';
comment on column layer.cadastral_sheet.made_valid is 'True when the published polygon was invalid and st_makevalid repaired it';
comment on column layer.cadastral_sheet.administrative_unit is 'Comune named by ADMINISTRATIVEUNIT; null if it is the comune of the reference';
comment on column layer.cadastral_sheet.file_belfiore is 'Comune in the file name; null if it is the comune of the reference or the name has none';
comment on column layer.cadastral_sheet.geom is 'Outline on the map, longitude latitude; neighbouring sheets do not always meet';
