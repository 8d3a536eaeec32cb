-- purpose: schools in the ministry's lists
-- reads: none
-- writes: layer.school
-- grain: one row per school
-- crs: none; published without coordinates

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
comment on table layer.school is 'State and private schools (MIM), published without coordinates. core.point_of_interest has the position of each school';
comment on column layer.school.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.school.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.school.position is 'Last line of the record, from 1.';
comment on column layer.school.kind is 'List: STAT for state schools, PAR for private schools; AUTSTAT and AUTPAR for Aosta, Trento and Bolzano';
comment on column layer.school.school_year is 'ANNOSCOLASTICO, 2024_2025';
comment on column layer.school.region_code is 'ISTAT region code of REGIONE; null if no region has the name';
comment on column layer.school.province is 'Name of the province as published; null if not stated';
comment on column layer.school.school_id is 'CODICESCUOLA, upper case';
comment on column layer.school.name is 'DENOMINAZIONESCUOLA';
comment on column layer.school.address is 'INDIRIZZOSCUOLA; null if not stated';
comment on column layer.school.belfiore is 'Cadastral code of the comune as published, possibly a former one';
comment on column layer.school.comune is 'Name of the comune as published; null if not stated';
comment on column layer.school.type is 'DESCRIZIONETIPOLOGIAGRADOISTRUZIONESCUOLA: SCUOLA PRIMARIA; null if not stated';
comment on column layer.school.comune_key is 'Comune, normalised like core.comune_key; null if not stated';
comment on column layer.school.street_types is 'Types that the street of the address may have, normalised; empty if none is written';
comment on column layer.school.street_words is 'Different words of the street''s name, normalised, ascending; empty if no street is written';
comment on column layer.school.number is 'House number; null if none';
comment on column layer.school.exponent is 'Suffix of the house number, upper case; null if none';
comment on column layer.school.colour is 'ROSSO or NERO; null if not written';
comment on column layer.school.regions_reached is 'Number of regions of Italy, of 20, with rows in the file. With 15 and more, the file covers Italy';
