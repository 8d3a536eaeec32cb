-- purpose: the cadastral map: parcels and the sheets that they lie on
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
comment on table layer.cadastral_parcel is 'Parcels of the Catasto Terreni (Agenzia delle Entrate, cartografia catastale), with the strips of road and water that are mapped like parcels';
comment on column layer.cadastral_parcel.release_id is 'Release (ledger.release)';
comment on column layer.cadastral_parcel.member_id is 'File member (ledger.member)';
comment on column layer.cadastral_parcel.position is 'Byte offset of the wfs:member in its GML document';
comment on column layer.cadastral_parcel.belfiore is 'Cadastral code of the comune in the reference (CCCC)';
comment on column layer.cadastral_parcel.section is 'Letter of the census section (sezione censuaria, Z); null: the comune has none';
comment on column layer.cadastral_parcel.sheet is 'Sheet (foglio, FFFF), four digits with zeros';
comment on column layer.cadastral_parcel.attachment is 'Attachment (allegato, A): 0 none, else its digit or letter, Q for a quadro d''unione';
comment on column layer.cadastral_parcel.development is 'Development (sviluppo, S): 0 none, else its digit or letter, U for a quadro d''unione';
comment on column layer.cadastral_parcel.label is 'What the map shows: a number, a letter, STRADAnnn or ACQUAnnn';
comment on column layer.cadastral_parcel.reference is 'National cadastral reference, CCCCZFFFFAS.label; unique in a release';
comment on column layer.cadastral_parcel.gml_id is 'Identifier of the feature as published';
comment on column layer.cadastral_parcel.kind is 'road (STRADAnnn), water (ACQUAnnn), else land';
comment on column layer.cadastral_parcel.made_valid is 'True when the published polygon was invalid and st_makevalid mended it';
comment on column layer.cadastral_parcel.administrative_unit is 'Comune that the feature names besides; null: the one of the reference';
comment on column layer.cadastral_parcel.file_belfiore is 'Comune that the file''s name says; null: the one of the reference, or the name says none';
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
comment on column layer.cadastral_sheet.release_id is 'Release (ledger.release)';
comment on column layer.cadastral_sheet.member_id is 'File member (ledger.member)';
comment on column layer.cadastral_sheet.position is 'Byte offset of the wfs:member in its GML document';
comment on column layer.cadastral_sheet.belfiore is 'Cadastral code of the comune in the reference (CCCC)';
comment on column layer.cadastral_sheet.section is 'Letter of the census section (sezione censuaria, Z); null: the comune has none';
comment on column layer.cadastral_sheet.sheet is 'Sheet (foglio, FFFF), four digits with zeros';
comment on column layer.cadastral_sheet.attachment is 'Attachment (allegato, A): 0 none, else its digit or letter, Q for a quadro d''unione';
comment on column layer.cadastral_sheet.development is 'Development (sviluppo, S): 0 none, else its digit or letter, U for a quadro d''unione';
comment on column layer.cadastral_sheet.label is 'What the map shows: 13, 13A';
comment on column layer.cadastral_sheet.reference is 'National cadastral reference of the sheet, CCCCZFFFFAS; unique in a release';
comment on column layer.cadastral_sheet.gml_id is 'Identifier of the feature as published';
comment on column layer.cadastral_sheet.begin_date is 'Day from which this version is in force; null: not published';
comment on column layer.cadastral_sheet.end_date is 'Day until which this version was in force; null: still, or not published';
comment on column layer.cadastral_sheet.scale_denominator is 'Scale of the original map, 1000 for 1:1000; null: not published';
comment on column layer.cadastral_sheet.made_valid is 'True when the published polygon was invalid and st_makevalid mended it';
comment on column layer.cadastral_sheet.administrative_unit is 'Comune that the feature names besides; null: the one of the reference';
comment on column layer.cadastral_sheet.file_belfiore is 'Comune that the file''s name says; null: the one of the reference, or the name says none';
comment on column layer.cadastral_sheet.geom is 'Outline on the map, longitude latitude; neighbouring sheets do not always meet';
