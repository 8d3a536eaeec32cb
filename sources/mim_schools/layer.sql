-- purpose: schools as the ministry lists them
-- reads: none
-- writes: layer.school
-- grain: one row per school
-- crs: none; they are published without coordinates

create table layer.school (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  kind text not null,
  school_year text not null,
  region_code int2,
  province text,
  school_id text not null,
  name text not null,
  address text,
  belfiore text not null,
  comune text,
  type text,
  comune_key text,
  street_types text[] not null,
  street_words text[] not null,
  number int4,
  exponent text,
  colour text,
  regions_reached int2 not null
) partition by list (release_id);
comment on table layer.school is 'Schools of the State and private ones (MIM); published without coordinates: where each is placed, core.point_of_interest says';
comment on column layer.school.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.school.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.school.position is 'Last line of the record, from 1';
comment on column layer.school.kind is 'List: STAT of the State, PAR private; AUTSTAT and AUTPAR of Aosta, Trento and Bolzano';
comment on column layer.school.school_year is 'ANNOSCOLASTICO, 2024_2025';
comment on column layer.school.region_code is 'ISTAT region code of REGIONE; null: a name that no region has';
comment on column layer.school.province is 'Name of the province as published; null: not stated';
comment on column layer.school.school_id is 'CODICESCUOLA, upper case';
comment on column layer.school.name is 'DENOMINAZIONESCUOLA';
comment on column layer.school.address is 'INDIRIZZOSCUOLA; null: not stated';
comment on column layer.school.belfiore is 'Cadastral code of the comune as published, of whatever year';
comment on column layer.school.comune is 'Name of the comune as published; null: not stated';
comment on column layer.school.type is 'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA: SCUOLA PRIMARIA; null: not stated';
comment on column layer.school.comune_key is 'Comune, normalised as core.comune_key does; null: not stated';
comment on column layer.school.street_types is 'Types that the street of the address may have, normalised; empty: none is written';
comment on column layer.school.street_words is 'Different words of the street''s name, normalised, ascending; empty: no street is written';
comment on column layer.school.number is 'House number; null: none';
comment on column layer.school.exponent is 'What follows the number, upper case; null: nothing';
comment on column layer.school.colour is 'ROSSO or NERO; null: not written';
comment on column layer.school.regions_reached is 'Regions of Italy, of 20, that its file reaches: of 15 and more it is a file of Italy';
