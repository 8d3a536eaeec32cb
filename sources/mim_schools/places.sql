-- purpose: the comuni in each file, by list
-- reads: layer.school
-- writes: place
-- grain: one row per file, list and comune
-- crs: none

create table place as
select
  'school' as layer,
  m.file_id,
  s.kind as series,
  s.belfiore as place,
  null::int2 as region_code,
  min(s.region_code) as likely_region_code,
  null as dated,
  true as named,
  null as name
from school s
join member m using (member_id)
group by m.file_id, s.kind, s.belfiore;
