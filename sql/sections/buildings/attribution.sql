-- purpose: which sources' buildings a region's parcels have, and of when
-- cites: igm_dbsn, dpc_buildings, trento_cadastre
-- reads: core.building_coverage
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  c.source as source_id,
  m.vintage
from building_coverage c
join member_in_force m on m.member_id = c.member_id;
