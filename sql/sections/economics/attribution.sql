-- purpose: the tax years of the incomes, the half-years of the prices, and the editions of the postal codes
-- cites: mef_income, omi_quotations, postal_codes
-- reads: section.economics, section.valuation, section.postal_code, core.declared_income
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key, source and vintage
-- crs: none

with kind as (
  select distinct
    i.tax_year,
    v.half_year,
    v.perimeter_half_year,
    e.cap is not null as is_by_code,
    case when e.cap is not null then coalesce(c.edition, '') end as edition,
    m.vintage
  from economics e
  join declared_income i on i.belfiore = e.belfiore
    and i.cap is not distinct from e.cap
  join current_member m on m.member_id = i.member_id
  left join valuation v on v.fid = e.fid
    and e.avg_residential_price_m2 is not null
  left join postal_code c on c.fid = e.fid
    and e.cap is not null
),
named as (
  select
    concat_ws(' ', tax_year, half_year, perimeter_half_year, 'cap ' || edition) as key,
    *
  from kind
)
select
  key,
  'mef_income' as source_id,
  vintage
from named
union
select
  n.key,
  'omi_quotations',
  h.half_year / 2 || '_' || h.half_year % 2 + 1
from named n
cross join lateral (values (n.half_year), (n.perimeter_half_year)) as h (half_year)
where h.half_year is not null
union
-- Cites the postal codes of parcels whose postal code selects the incomes.
select
  key,
  'postal_codes',
  edition
from named
where is_by_code;
