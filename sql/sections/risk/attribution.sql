-- purpose: which editions of the hazard maps speak of a region's comuni
-- cites: ispra_flood, ispra_landslide
-- reads: core.coverage
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  case when c.theme = 'landslide' then 'ispra_landslide' else 'ispra_flood' end as source_id,
  m.vintage
from coverage c
join member_in_force m on m.member_id = c.member_id
where c.mapped;
