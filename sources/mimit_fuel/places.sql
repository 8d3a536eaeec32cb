-- purpose: the comuni in each file
-- reads: layer.fuel_station
-- writes: place
-- grain: one row per file and comune as published
-- crs: none

create table place as
select
  'fuel_station' as layer,
  m.file_id,
  '' as series,
  s.place,
  null::int2 as region_code,
  null::int2 as likely_region_code,
  null as dated,
  true as named,
  null as name
from fuel_station s
join member m using (member_id)
group by m.file_id, s.place;
