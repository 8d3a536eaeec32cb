-- purpose: the rows of the list of suppressed comuni as they were read
-- reads: none
-- writes: staging.raw_suppressed
-- grain: one row per accepted record
-- crs: none

create unlogged table raw_suppressed (
  member_id int4 not null,
  position int8 not null,
  istat_code text not null,
  name text not null,
  province_code text not null,
  sigla text not null,
  divided bool not null,
  event_date date not null,
  successor_istat_code text,
  successor_name text not null
);
