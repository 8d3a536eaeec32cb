-- purpose: the published tables of the territory: regions, provinces, comuni, parcels, sheets
-- reads: none
-- writes: core.region, core.province, core.comune, core.parcel_register, core.parcel, core.sheet
-- grain: as each table says
-- crs: EPSG:4326, longitude and latitude in degrees

create table core.region (
  code int2 primary key,
  name text not null,
  area_km2 float8
);
comment on table core.region is 'Italy''s regions; published as a whole';
comment on column core.region.code is 'ISTAT region code, 1–20';
comment on column core.region.name is 'Name as ISTAT writes it';
comment on column core.region.area_km2 is 'Area in square kilometres (EPSG:3035) of the boundaries loaded; null: no boundaries loaded';

create table core.province (
  code text primary key,
  name text not null,
  abbreviation text,
  region_code int2 not null
);
comment on table core.province is 'Provinces, metropolitan cities and other supra-municipal units; published as a whole';
comment on column core.province.code is 'ISTAT code of the unit (UTS), 3 digits, text';
comment on column core.province.name is 'Name as ISTAT writes it';
comment on column core.province.abbreviation is 'Car plate code; null: none published';
comment on column core.province.region_code is 'ISTAT region code';

create table core.comune (
  belfiore text primary key,
  istat_code text not null,
  name text not null,
  name_other text,
  province_code text not null,
  province_name text not null,
  sigla text,
  region_code int2 not null
);
comment on table core.comune is 'Comuni in force; published as a whole';
comment on column core.comune.belfiore is 'Cadastral code (codice catastale, Belfiore): letter and three digits';
comment on column core.comune.istat_code is 'ISTAT code, 6 digits, text';
comment on column core.comune.name is 'Italian name';
comment on column core.comune.name_other is 'Name in the second language; null: none';
comment on column core.comune.province_code is 'ISTAT code of the province (UTS), 3 digits, text';
comment on column core.comune.province_name is 'Name of the province';
comment on column core.comune.sigla is 'Car plate code of the province; null: none published';
comment on column core.comune.region_code is 'ISTAT region code';

create table core.parcel_register (
  region_code int2 not null,
  reference text not null,
  fid int4 not null,
  first_run_id int4,
  retired_on date,
  primary key (region_code, reference)
) partition by list (region_code);
comment on table core.parcel_register is 'Every cadastral reference that was ever given a fid; a fid is never given to another reference';
comment on column core.parcel_register.region_code is 'ISTAT region code';
comment on column core.parcel_register.reference is 'National cadastral reference, CCCCZFFFFAS.label';
comment on column core.parcel_register.fid is 'Parcel identifier: region_code · 100,000,000 + ordinal';
comment on column core.parcel_register.first_run_id is 'Run that first met the reference; null: not recorded';
comment on column core.parcel_register.retired_on is 'Day of the publication that no longer has the parcel; null: it is published, or not yet';

create table core.parcel_register_1 partition of core.parcel_register for values in (1);
create table core.parcel_register_2 partition of core.parcel_register for values in (2);
create table core.parcel_register_3 partition of core.parcel_register for values in (3);
create table core.parcel_register_4 partition of core.parcel_register for values in (4);
create table core.parcel_register_5 partition of core.parcel_register for values in (5);
create table core.parcel_register_6 partition of core.parcel_register for values in (6);
create table core.parcel_register_7 partition of core.parcel_register for values in (7);
create table core.parcel_register_8 partition of core.parcel_register for values in (8);
create table core.parcel_register_9 partition of core.parcel_register for values in (9);
create table core.parcel_register_10 partition of core.parcel_register for values in (10);
create table core.parcel_register_11 partition of core.parcel_register for values in (11);
create table core.parcel_register_12 partition of core.parcel_register for values in (12);
create table core.parcel_register_13 partition of core.parcel_register for values in (13);
create table core.parcel_register_14 partition of core.parcel_register for values in (14);
create table core.parcel_register_15 partition of core.parcel_register for values in (15);
create table core.parcel_register_16 partition of core.parcel_register for values in (16);
create table core.parcel_register_17 partition of core.parcel_register for values in (17);
create table core.parcel_register_18 partition of core.parcel_register for values in (18);
create table core.parcel_register_19 partition of core.parcel_register for values in (19);
create table core.parcel_register_20 partition of core.parcel_register for values in (20);

create table core.parcel (
  fid int4 primary key,
  belfiore text not null,
  section text,
  sheet text not null,
  attachment text not null,
  development text not null,
  label text not null,
  reference text not null,
  gml_id text not null,
  kind text not null,
  area_m2 float8 not null,
  made_valid bool not null,
  point geometry(point, 4326) not null,
  geom geometry(multipolygon, 4326) not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null
) partition by range (fid);
comment on table core.parcel is 'Parcels of the cadastral map, one partition per region, stored in Hilbert order of their geometry; the section basic';
comment on column core.parcel.fid is 'Parcel identifier, stable through reloads';
comment on column core.parcel.belfiore is 'Cadastral code of the comune';
comment on column core.parcel.section is 'Cadastral section letter (sezione censuaria); null: the comune has none';
comment on column core.parcel.sheet is 'Sheet (foglio), 4 characters with its zeros';
comment on column core.parcel.attachment is 'Attachment (allegato): 0 none, else its letter or digit';
comment on column core.parcel.development is 'Development (sviluppo): 0 none, else its letter or digit';
comment on column core.parcel.label is 'Parcel number (particella) as printed on the map';
comment on column core.parcel.reference is 'National cadastral reference CCCCZFFFFAS.label';
comment on column core.parcel.gml_id is 'gml:id in the publisher''s file';
comment on column core.parcel.kind is 'land, road (STRADA…) or water (ACQUA…)';
comment on column core.parcel.area_m2 is 'Ground area in square metres, measured in EPSG:3035';
comment on column core.parcel.made_valid is 'True when the published polygon was not valid and was repaired';
comment on column core.parcel.point is 'A point inside the parcel, EPSG:4326 longitude latitude: the representative point of all point rules';
comment on column core.parcel.geom is 'Polygon, EPSG:4326 longitude latitude';
comment on column core.parcel.release_id is 'Release it was read from (ledger.release)';
comment on column core.parcel.member_id is 'File member it was read from (ledger.member)';
comment on column core.parcel.position is 'Byte offset of the feature in its member';
-- serves: locate by point and by box, joins with polygons
create index on core.parcel using gist (geom);
-- serves: joins of zones with representative points
create index on core.parcel using gist (point);
-- serves: look-up by cadastral reference
create index on core.parcel (reference);

create table core.sheet (
  region_code int2 not null,
  reference text not null,
  belfiore text not null,
  section text,
  sheet text not null,
  attachment text not null,
  development text not null,
  scale_denominator int4,
  geom geometry(multipolygon, 4326) not null,
  primary key (region_code, reference)
) partition by list (region_code);
comment on table core.sheet is 'Sheets of the cadastral map, one partition per region';
comment on column core.sheet.region_code is 'ISTAT region code';
comment on column core.sheet.reference is 'Reference CCCCZFFFFAS';
comment on column core.sheet.belfiore is 'Cadastral code of the comune';
comment on column core.sheet.section is 'Cadastral section letter; null: none';
comment on column core.sheet.sheet is 'Sheet number, 4 characters';
comment on column core.sheet.attachment is 'Attachment: 0 none';
comment on column core.sheet.development is 'Development: 0 none';
comment on column core.sheet.scale_denominator is 'Denominator of the original map scale; null: not published';
comment on column core.sheet.geom is 'Polygon, EPSG:4326 longitude latitude';
-- serves: the sheet at a point
create index on core.sheet using gist (geom);
