-- purpose: which half-years the quotations of a region's parcels are of, and the perimeters that led to them
-- cites: omi_quotations
-- reads: section.valuation, core.quotation
-- writes: none
-- grain: one row per source and vintage
-- crs: none

with place as (
  select distinct
    belfiore,
    zona,
    half_year,
    perimeter_half_year,
    previous_belfiore,
    previous_zona
  from valuation
),
quoted as (
  select p.*
  from place p
  where exists (
    select from quotation q
    where q.belfiore = p.belfiore
      and q.zona = p.zona
      and q.half_year = p.half_year
  )
)
select
  'omi_quotations' as source_id,
  half_year / 2 || '_' || half_year % 2 + 1 as vintage
from (
  select half_year
  from quoted
  union
  select perimeter_half_year
  from quoted
  union
  select q.half_year
  from quoted p
  join quotation q on q.belfiore = p.previous_belfiore and q.zona = p.previous_zona and q.half_year = p.half_year - 1
) used
where half_year is not null;
