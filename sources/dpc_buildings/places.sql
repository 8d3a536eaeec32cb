-- purpose: the comuni in each file of structural aggregates
-- reads: layer.dpc_building
-- writes: place
-- grain: one row per file and comune
-- crs: none

create table place as
select
  'dpc_building' as layer,
  m.file_id,
  '' as series,
  b.istat_code as place,
  null::int2 as region_code,
  min(core.region_of_istat_code(b.istat_code)) as likely_region_code,
  null as dated,
  true as named,
  null as name
from dpc_building b
join member m using (member_id)
group by m.file_id, b.istat_code;
