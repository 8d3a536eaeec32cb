-- purpose: the half-years in which a region's parcels are in a zone, and those of the perimeters that place them now
-- cites: omi_quotations
-- reads: section.valuation_history
-- writes: none
-- grain: one row per source and vintage
-- crs: none

with run as (
  select distinct
    since,
    until,
    perimeter_half_year,
    then_zona is not null as known
  from valuation_history
)
select
  'omi_quotations' as source_id,
  half_year / 2 || '_' || half_year % 2 + 1 as vintage
from (
  select h.half_year
  from run r
  cross join generate_series(r.since::int4, r.until::int4) as h (half_year)
  where r.known
  union
  select perimeter_half_year
  from run
) used
where half_year is not null;
