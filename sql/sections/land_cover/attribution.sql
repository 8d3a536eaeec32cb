-- purpose: which maps of land cover speak of a region's comuni
-- cites: clc_land_cover
-- reads: core.land_coverage
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'clc_land_cover' as source_id,
  m.vintage
from land_coverage c
join member_in_force m on m.member_id = c.member_id
where c.mapped;
