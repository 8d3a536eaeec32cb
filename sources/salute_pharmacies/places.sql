-- purpose: the comuni in each file
-- reads: layer.pharmacy
-- writes: place
-- grain: one row per file and ISTAT code of a comune
-- crs: none

create table place as
select
  'pharmacy' as layer,
  m.file_id,
  '' as series,
  p.istat_code as place,
  null::int2 as region_code,
  null::int2 as likely_region_code,
  null as dated,
  true as named,
  null as name
from pharmacy p
join member m using (member_id)
group by m.file_id, p.istat_code;
