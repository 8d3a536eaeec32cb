-- purpose: the source of the buildings in each comune
-- cites: igm_dbsn, dpc_buildings, trento_cadastre
-- reads: core.building_coverage
-- writes: none
-- grain: one row per comune
-- crs: none

select
  c.belfiore as key,
  c.source as source_id,
  m.vintage
from building_coverage c
join current_member m on m.member_id = c.member_id;
