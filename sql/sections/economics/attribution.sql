-- purpose: which years, half-years and editions made the incomes and prices of a region's parcels
-- cites: mef_income, omi_quotations, postal_codes
-- reads: section.economics, section.valuation, section.postal_code, core.declared_income
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'mef_income' as source_id,
  i.tax_year::text as vintage
from (select distinct belfiore, cap from economics) e
join declared_income i on i.belfiore = e.belfiore and i.cap is not distinct from e.cap
union
select
  'omi_quotations',
  h.half_year / 2 || '_' || h.half_year % 2 + 1
from (
  select distinct
    v.half_year,
    v.perimeter_half_year
  from economics e
  join valuation v on v.fid = e.fid
  where e.avg_residential_price_m2 is not null
) used
cross join lateral (values (used.half_year), (used.perimeter_half_year)) as h (half_year)
union
-- The code decides whose incomes are shown.
select
  'postal_codes',
  coalesce(c.edition, '')
from economics e
join postal_code c on c.fid = e.fid
where e.cap is not null;
