-- purpose: the half-years of quotations, and of the perimeters that led to them
-- cites: omi_quotations
-- reads: section.valuation
-- writes: none
-- grain: one row per key and vintage
-- crs: none

with kind as (
  select distinct
    half_year,
    perimeter_half_year
  from valuation
  where half_year is not null
)
select
  concat_ws(' ', k.half_year, k.perimeter_half_year, p.key) as key,
  'omi_quotations' as source_id,
  h.half_year / 2 || '_' || h.half_year % 2 + 1 as vintage
from kind k
-- Whether the half-year before is quoted, the record says.
cross join (values (null, 0), ('previous', 1)) as p (key, earlier)
cross join lateral (values (k.half_year), (k.perimeter_half_year), (k.half_year - p.earlier)) as h (half_year)
where h.half_year is not null
group by 1, 2, 3;
