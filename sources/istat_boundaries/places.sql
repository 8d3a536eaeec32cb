-- purpose: the units in each file, level by level
-- reads: layer.boundary
-- writes: place
-- grain: one row per file, level and unit
-- crs: none

create table place as
select
  'boundary' as layer,
  m.file_id,
  b.kind as series,
  b.code as place,
  null::int2 as region_code,
  null::int2 as likely_region_code,
  null as dated,
  true as named,
  null as name
from boundary b
join member m using (member_id)
group by m.file_id, b.kind, b.code;
