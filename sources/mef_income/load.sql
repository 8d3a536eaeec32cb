-- purpose: loads incomes; repeated rows become duplicates
-- reads: staging.raw_income
-- writes: layer.income
-- grain: one row per tax year, level, comune and postal code
-- crs: none

-- If rows of one file have the same key, the last row is used.
create table income_ranked as
select
  i.*,
  row_number() over key as rank,
  row(i.istat_code, i.region_code, i.taxpayers, i.total_income_n, i.total_income_eur, i.net_tax_n, i.net_tax_eur, i.lte_zero_n, i.lte_zero_eur, i.from_0_to_10k_n, i.from_0_to_10k_eur, i.from_10k_to_15k_n, i.from_10k_to_15k_eur, i.from_15k_to_26k_n, i.from_15k_to_26k_eur, i.from_26k_to_55k_n, i.from_26k_to_55k_eur, i.from_55k_to_75k_n, i.from_55k_to_75k_eur, i.from_75k_to_120k_n, i.from_75k_to_120k_eur, i.over_120k_n, i.over_120k_eur)::text
    = first_value(row(i.istat_code, i.region_code, i.taxpayers, i.total_income_n, i.total_income_eur, i.net_tax_n, i.net_tax_eur, i.lte_zero_n, i.lte_zero_eur, i.from_0_to_10k_n, i.from_0_to_10k_eur, i.from_10k_to_15k_n, i.from_10k_to_15k_eur, i.from_15k_to_26k_n, i.from_15k_to_26k_eur, i.from_26k_to_55k_n, i.from_26k_to_55k_eur, i.from_55k_to_75k_n, i.from_55k_to_75k_eur, i.from_75k_to_120k_n, i.from_75k_to_120k_eur, i.over_120k_n, i.over_120k_eur)::text) over key as same
from raw_income i
join member m using (member_id)
window key as (
  partition by m.file_id, i.tax_year, i.level, i.belfiore, i.cap
  order by i.member_id desc, i.position desc
);

create table income as
select
  r.release_id,
  i.member_id,
  i.position,
  i.tax_year,
  i.level,
  i.belfiore,
  i.istat_code,
  i.cap,
  i.region_code,
  i.taxpayers,
  i.total_income_n,
  i.total_income_eur,
  i.net_tax_n,
  i.net_tax_eur,
  i.lte_zero_n,
  i.lte_zero_eur,
  i.from_0_to_10k_n,
  i.from_0_to_10k_eur,
  i.from_10k_to_15k_n,
  i.from_10k_to_15k_eur,
  i.from_15k_to_26k_n,
  i.from_15k_to_26k_eur,
  i.from_26k_to_55k_n,
  i.from_26k_to_55k_eur,
  i.from_55k_to_75k_n,
  i.from_55k_to_75k_eur,
  i.from_75k_to_120k_n,
  i.from_75k_to_120k_eur,
  i.over_120k_n,
  i.over_120k_eur
from income_ranked i
cross join release r
where i.rank = 1
order by i.tax_year, i.level, i.belfiore collate "C", i.cap collate "C";

create table duplicate as
select
  member_id,
  position,
  case when same then 'income_repeated' else 'income_superseded' end as code
from income_ranked
where rank > 1;

drop table income_ranked;
