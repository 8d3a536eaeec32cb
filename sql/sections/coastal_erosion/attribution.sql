-- purpose: which editions of the shore speak of a region's comuni
-- cites: ispra_shoreline
-- reads: core.coast_coverage
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'ispra_shoreline' as source_id,
  m.vintage
from coast_coverage c
join member_in_force m on m.member_id = c.member_id
where c.mapped;
