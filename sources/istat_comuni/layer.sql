-- purpose: current comuni with their codes in other sources
-- reads: none
-- writes: layer.comune_code
-- grain: one row per comune
-- crs: none

create table layer.comune_code (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  belfiore text not null,
  istat_code text not null,
  name text not null,
  name_other text,
  province_code text not null,
  province_historic_code text not null,
  province_name text not null,
  province_type int2 not null,
  sigla text not null,
  region_code int2 not null,
  region_name text not null,
  capoluogo bool not null,
  code_107_2017 text,
  code_110 text,
  code_107 text,
  code_103 text
) partition by list (release_id);
comment on table layer.comune_code is 'Current comuni (ISTAT, Elenco dei comuni italiani) with their cadastral, statistical and former codes';
comment on column layer.comune_code.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.comune_code.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.comune_code.position is 'Line of the file, from 1. The last line of a record of several lines.';
comment on column layer.comune_code.belfiore is 'Cadastral code (codice catastale, Belfiore): letter and three digits';
comment on column layer.comune_code.istat_code is 'Current ISTAT code, 6 digits, text';
comment on column layer.comune_code.name is 'Italian name';
comment on column layer.comune_code.name_other is 'Name in the second language; letters missing from the publisher''s encoding are ?; null if none';
comment on column layer.comune_code.province_code is 'ISTAT code of the province or metropolitan city (UTS) used for statistics, 3 digits, text. Metropolitan cities have 2xx';
comment on column layer.comune_code.province_historic_code is 'Code of the province at the start of the comune''s code, 3 digits, text';
comment on column layer.comune_code.province_name is 'Name of the province or metropolitan city, in two languages where both are official';
comment on column layer.comune_code.province_type is '1 province, 2 autonomous province, 3 metropolitan city, 4 free consortium, 5 non-administrative unit';
comment on column layer.comune_code.sigla is 'Car plate code of the province';
comment on column layer.comune_code.region_code is 'ISTAT region code, 1–20';
comment on column layer.comune_code.region_name is 'Name of the region, in two languages where both are official';
comment on column layer.comune_code.capoluogo is 'True for the seat of its province';
comment on column layer.comune_code.code_107_2017 is 'ISTAT code with the 107 provinces of 2017–2025, 6 digits, text; null if the edition lacks this column (before 2026 it equals the current code)';
comment on column layer.comune_code.code_110 is 'ISTAT code with the 110 provinces of 2010–2016, 6 digits, text; null if none';
comment on column layer.comune_code.code_107 is 'ISTAT code with the 107 provinces of 2006–2009, 6 digits, text; null if none';
comment on column layer.comune_code.code_103 is 'ISTAT code with the 103 provinces of 1995–2005, 6 digits, text; null if none';
-- serves: comuni by cadastral code
create index on layer.comune_code (belfiore);
-- serves: comuni by ISTAT code
create index on layer.comune_code (istat_code);
