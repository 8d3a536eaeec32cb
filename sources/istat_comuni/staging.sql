-- purpose: the rows of the list of comuni as they were read
-- reads: none
-- writes: staging.raw_comune
-- grain: one row per accepted record
-- crs: none

create unlogged table raw_comune (
  member_id int4 not null,
  position int8 not null,
  region_code int2 not null,
  province_code text not null,
  province_historic_code text not null,
  istat_code text not null,
  name text not null,
  name_other text,
  region_name text not null,
  province_name text not null,
  province_type int2 not null,
  capoluogo bool not null,
  sigla text not null,
  code_107_2017 text,
  code_110 text,
  code_107 text,
  code_103 text,
  belfiore text not null
);
