-- purpose: parcels of the land registers of Trento and Bolzano, which have comuni catastali and no sheets
-- reads: core.parcel, core.parcel_register
-- writes: core.comune_catastale
-- grain: one row per comune catastale
-- crs: none

alter table core.parcel alter column sheet drop not null;
alter table core.parcel alter column attachment drop not null;
alter table core.parcel alter column development drop not null;
comment on column core.parcel.section is 'Cadastral section letter (sezione censuaria); null: the comune has none, or the parcel is of a land register (Libro fondiario)';
comment on column core.parcel.sheet is 'Sheet (foglio), 4 characters with its zeros; null: the parcel is of a land register, which has none';
comment on column core.parcel.attachment is 'Attachment (allegato): 0 none, else its letter or digit; null: the parcel is of a land register';
comment on column core.parcel.development is 'Development (sviluppo): 0 none, else its letter or digit; null: the parcel is of a land register';
comment on column core.parcel.label is 'Parcel number (particella) as printed on the map; in a land register that of a building parcel begins with a dot';
comment on column core.parcel.reference is 'National cadastral reference CCCCZFFFFAS.label; in a land register IT.<TN or BZ>.<comune catastale>.<label>';
comment on column core.parcel.gml_id is 'gml:id in the publisher''s file; in a land register the reference';
comment on column core.parcel.position is 'Byte offset of the feature in its member; in a land register the number of the record';
comment on column core.parcel_register.reference is 'Cadastral reference, as core.parcel has it';

create table core.comune_catastale (
  region_code int2 not null,
  prefix text not null,
  code text not null,
  name text,
  name_other text,
  belfiore text,
  primary key (region_code, prefix)
) partition by list (region_code);
comment on table core.comune_catastale is 'Comuni catastali of the land registers of Trento and Bolzano; several make one comune. One partition per region';
comment on column core.comune_catastale.region_code is 'ISTAT region code';
comment on column core.comune_catastale.prefix is 'What references of its parcels begin with, before the dot: IT.TN.001';
comment on column core.comune_catastale.code is 'Its number, as its province writes it: 001';
comment on column core.comune_catastale.name is 'Italian name as published; null: none published';
comment on column core.comune_catastale.name_other is 'German name as published; null: none';
comment on column core.comune_catastale.belfiore is 'Cadastral code of the comune in force that it is of; null: the list of comuni lacks it';
-- serves: the comuni catastali of a comune
create index on core.comune_catastale (belfiore);
