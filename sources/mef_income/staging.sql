-- purpose: MEF records as they were read
-- reads: none
-- writes: staging.raw_income
-- grain: one row per accepted record
-- crs: none

create unlogged table raw_income (
  member_id int4 not null,
  position int8 not null,
  tax_year int2 not null,
  level text not null,
  belfiore text,
  istat_code text,
  cap text,
  region_code int2,
  taxpayers int4,
  total_income_n int4,
  total_income_eur int8,
  net_tax_n int4,
  net_tax_eur int8,
  lte_zero_n int4,
  lte_zero_eur int8,
  from_0_to_10k_n int4,
  from_0_to_10k_eur int8,
  from_10k_to_15k_n int4,
  from_10k_to_15k_eur int8,
  from_15k_to_26k_n int4,
  from_15k_to_26k_eur int8,
  from_26k_to_55k_n int4,
  from_26k_to_55k_eur int8,
  from_55k_to_75k_n int4,
  from_55k_to_75k_eur int8,
  from_75k_to_120k_n int4,
  from_75k_to_120k_eur int8,
  over_120k_n int4,
  over_120k_eur int8
);
