-- purpose: income tax returns by comune and postal code
-- reads: none
-- writes: layer.income
-- grain: one row per tax year and comune, and per postal code of the comuni with several
-- crs: none

create table layer.income (
  release_id int4 not null,
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
) partition by list (release_id);
comment on table layer.income is 'MEF: personal income tax returns (IRPEF); taxpayers, not households, and gross individual income';
comment on column layer.income.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.income.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.income.position is 'Line of the file, from 1.';
comment on column layer.income.tax_year is 'Year in which the income was earned';
comment on column layer.income.level is 'comune, cap (postal code of a comune that has several) or unplaced (taxpayers with a missing or wrong comune, for reconciliation only)';
comment on column layer.income.belfiore is 'Cadastral code of the comune of fiscal domicile; null if unplaced';
comment on column layer.income.istat_code is 'ISTAT code of the comune as published, 6 digits; null if unplaced';
comment on column layer.income.cap is 'Postal code; null if the row is of the whole comune';
comment on column layer.income.region_code is 'ISTAT region code; null if unplaced';
comment on column layer.income.taxpayers is 'Taxpayers; null if withheld';
comment on column layer.income.total_income_n is 'Taxpayers with a total income; null if withheld or before 2023, when no total is published';
comment on column layer.income.total_income_eur is 'Total income (reddito complessivo), euro; null if withheld or before 2023';
comment on column layer.income.net_tax_n is 'Taxpayers with a net tax; null if withheld';
comment on column layer.income.net_tax_eur is 'Net tax (imposta netta), euro; null if withheld';
comment on column layer.income.lte_zero_n is 'Taxpayers with a total income of zero or less; null if withheld, 0 if there are none';
comment on column layer.income.lte_zero_eur is 'Total income of these taxpayers, euro (negative for losses); null if withheld';
comment on column layer.income.from_0_to_10k_n is 'Taxpayers with a total income up to 10,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_0_to_10k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.from_10k_to_15k_n is 'Taxpayers with a total income from 10,000 to 15,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_10k_to_15k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.from_15k_to_26k_n is 'Taxpayers with a total income from 15,000 to 26,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_15k_to_26k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.from_26k_to_55k_n is 'Taxpayers with a total income from 26,000 to 55,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_26k_to_55k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.from_55k_to_75k_n is 'Taxpayers with a total income from 55,000 to 75,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_55k_to_75k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.from_75k_to_120k_n is 'Taxpayers with a total income from 75,000 to 120,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.from_75k_to_120k_eur is 'Total income of these taxpayers, euro; null if withheld';
comment on column layer.income.over_120k_n is 'Taxpayers with a total income over 120,000 euro; null if withheld, 0 if there are none';
comment on column layer.income.over_120k_eur is 'Total income of these taxpayers, euro; null if withheld';
