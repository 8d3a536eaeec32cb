-- purpose: declared incomes by region, and where each parcel's are found
-- reads: none
-- writes: core.declared_income, section.economics
-- grain: one row per comune and per postal code of the comuni that have several; one row per parcel
-- crs: none

create table core.declared_income (
  region_code int2 not null,
  tax_year int2 not null,
  belfiore text not null,
  cap text,
  taxpayers int4,
  earners int4,
  total_income_eur int8,
  net_tax_eur int8,
  lte_zero_n int4,
  from_0_to_10k_n int4,
  from_10k_to_15k_n int4,
  from_15k_to_26k_n int4,
  from_26k_to_55k_n int4,
  from_55k_to_75k_n int4,
  from_75k_to_120k_n int4,
  over_120k_n int4,
  gini_index numeric,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null
) partition by list (region_code);
comment on table core.declared_income is 'Personal income tax returns (MEF) of one tax year; one partition per region. Individual gross income of taxpayers, not of households';
comment on column core.declared_income.region_code is 'ISTAT region code';
comment on column core.declared_income.tax_year is 'Year in which the income was earned';
comment on column core.declared_income.belfiore is 'Cadastral code of the comune of fiscal domicile';
comment on column core.declared_income.cap is 'Postal code; null: the row is of the whole comune';
comment on column core.declared_income.taxpayers is 'Taxpayers; null: withheld';
comment on column core.declared_income.earners is 'Taxpayers with a total income: the denominator of the average; before 2023 the sum of the brackets; null: withheld';
comment on column core.declared_income.total_income_eur is 'Total income (reddito complessivo), euro; before 2023 the sum of the brackets; null: withheld, also in part';
comment on column core.declared_income.net_tax_eur is 'Net tax (imposta netta), euro; null: withheld';
comment on column core.declared_income.lte_zero_n is 'Taxpayers with a total income of zero or less; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_0_to_10k_n is 'Taxpayers with a total income up to 10,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_10k_to_15k_n is 'Taxpayers with a total income from 10,000 to 15,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_15k_to_26k_n is 'Taxpayers with a total income from 15,000 to 26,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_26k_to_55k_n is 'Taxpayers with a total income from 26,000 to 55,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_55k_to_75k_n is 'Taxpayers with a total income from 55,000 to 75,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.from_75k_to_120k_n is 'Taxpayers with a total income from 75,000 to 120,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.over_120k_n is 'Taxpayers with a total income over 120,000 euro; null: withheld; 0 is a true zero';
comment on column core.declared_income.gini_index is 'Gini index of the brackets, 0–1, 4 decimals; null: fewer than two groups are known';
comment on column core.declared_income.release_id is 'Release it was read from (ledger.release)';
comment on column core.declared_income.member_id is 'File member it was read from (ledger.member)';
comment on column core.declared_income.position is 'Line of the file, from 1';
-- serves: the incomes of a comune or of one of its postal codes
create index on core.declared_income (belfiore, cap);

create table section.economics (
  fid int4 primary key,
  belfiore text not null,
  cap text,
  avg_residential_price_m2 float8
) partition by range (fid);
comment on table section.economics is 'Which row of core.declared_income is a parcel''s, and the price of dwellings around it. No row: no incomes are published for the comune, or the parcel is a road or water';
comment on column section.economics.fid is 'Parcel identifier';
comment on column section.economics.belfiore is 'Cadastral code of the comune';
comment on column section.economics.cap is 'Postal code whose incomes are the parcel''s (level cap); null: those of the whole comune (level comune)';
comment on column section.economics.avg_residential_price_m2 is 'Mean middle price of the residential types (1, 19, 20, 21, 22) in their prevalent state in the parcel''s OMI zone, euro per square metre, 2 decimals; null: none quoted';
