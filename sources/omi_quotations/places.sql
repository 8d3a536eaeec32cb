-- purpose: the comuni and half-years in each file, with their days of elaboration
-- reads: layer.omi_quotation, layer.omi_zone, layer.omi_perimeter
-- writes: place
-- grain: one row per layer, file, half-year and comune
-- crs: none

create table place as
with found as (
  select
    'omi_quotation' as layer,
    member_id,
    semester,
    belfiore,
    min(region_code) as region_code,
    max(elaborated) as dated
  from omi_quotation
  group by member_id, semester, belfiore
  union all
  select
    'omi_zone',
    member_id,
    semester,
    belfiore,
    min(region_code),
    max(elaborated)
  from omi_zone
  group by member_id, semester, belfiore
  union all
  select
    'omi_perimeter',
    member_id,
    semester,
    belfiore,
    null,
    max(generated)
  from omi_perimeter
  group by member_id, semester, belfiore
)
select
  f.layer,
  m.file_id,
  f.semester as series,
  f.belfiore as place,
  null::int2 as region_code,
  min(f.region_code) as likely_region_code,
  max(f.dated)::text as dated,
  true as named,
  null as name
from found f
join member m using (member_id)
group by f.layer, m.file_id, f.semester, f.belfiore;
