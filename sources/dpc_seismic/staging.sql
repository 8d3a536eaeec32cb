-- purpose: the rows of the seismic classification as they were read
-- reads: none
-- writes: staging.raw_seismic
-- grain: one row per accepted record
-- crs: none

create unlogged table raw_seismic (
  member_id int4 not null,
  position int8 not null,
  region_name text not null,
  sigla text,
  name text not null,
  istat_code text not null,
  label text not null,
  zone int2 not null
);
