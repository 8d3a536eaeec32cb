-- purpose: declared incomes of the region's comuni, for the tax years that the section economics uses
-- version: 3
-- reads: layer.income, layer.comune_code
-- writes: core.declared_income
-- grain: one row per comune, and one row per postal code of comuni with several postal codes
-- crs: none

-- Selects for each comune the newest tax year published for the complete comune, and the newest tax year published by postal code. The two years may differ,
-- and comuni may have different years. The workspace has only comuni of the region, and comuni whose parcels are still in the files of the region's cadastre. A
-- suppressed comune belongs to the region that the MEF files state.
create table declared_income as
with newest as (
  select
    belfiore,
    level,
    max(tax_year) as tax_year
  from income
  where level in ('comune', 'cap')
  group by belfiore, level
)
select
  g.code as region_code,
  i.tax_year,
  i.belfiore,
  i.cap,
  i.taxpayers,
  -- Before 2023, no total is published. The total is then the sum of all eight brackets, or null if a bracket is withheld.
  case
    when i.total_income_n is not null then i.total_income_n
    when i.tax_year < 2023 then (
      i.lte_zero_n
    + i.from_0_to_10k_n
    + i.from_10k_to_15k_n
    + i.from_15k_to_26k_n
    + i.from_26k_to_55k_n
    + i.from_55k_to_75k_n
    + i.from_75k_to_120k_n
    + i.over_120k_n
    )
  end as earners,
  case
    when i.total_income_eur is not null then i.total_income_eur
    when i.tax_year < 2023 then (
      i.lte_zero_eur
    + i.from_0_to_10k_eur
    + i.from_10k_to_15k_eur
    + i.from_15k_to_26k_eur
    + i.from_26k_to_55k_eur
    + i.from_55k_to_75k_eur
    + i.from_75k_to_120k_eur
    + i.over_120k_eur
    )
  end as total_income_eur,
  i.net_tax_eur,
  i.lte_zero_n,
  i.from_0_to_10k_n,
  i.from_10k_to_15k_n,
  i.from_15k_to_26k_n,
  i.from_26k_to_55k_n,
  i.from_55k_to_75k_n,
  i.from_75k_to_120k_n,
  i.over_120k_n,
  core.gini(
    array[i.lte_zero_n, i.from_0_to_10k_n, i.from_10k_to_15k_n, i.from_15k_to_26k_n, i.from_26k_to_55k_n, i.from_55k_to_75k_n, i.from_75k_to_120k_n, i.over_120k_n]::int8[],
    array[i.lte_zero_eur, i.from_0_to_10k_eur, i.from_10k_to_15k_eur, i.from_15k_to_26k_eur, i.from_26k_to_55k_eur, i.from_55k_to_75k_eur, i.from_75k_to_120k_eur, i.over_120k_eur]::int8[],
    i.total_income_n::int8,
    i.total_income_eur
  ) as gini_index,
  i.release_id,
  i.member_id,
  i.position
from income i
join newest n on n.belfiore = i.belfiore and n.level = i.level and n.tax_year = i.tax_year
cross join region g
left join comune_code c on c.belfiore = i.belfiore
where c.belfiore is not null
  or i.region_code = g.code
order by i.belfiore collate "C", i.cap collate "C" nulls first;

-- serves: incomes of a comune, or of one of its postal codes
create index on declared_income (belfiore, cap);
