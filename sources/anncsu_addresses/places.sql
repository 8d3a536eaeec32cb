-- purpose: records the comuni in each file
-- reads: layer.odonimo, layer.odonimo_indir, layer.accesso
-- writes: place
-- grain: one row per layer, file and comune
-- crs: none

create table place as
with found as (
  select
    'odonimo' as layer,
    member_id,
    belfiore,
    min(istat_code) as istat_code
  from odonimo
  group by member_id, belfiore
  union all
  select
    'odonimo_indir',
    member_id,
    belfiore,
    min(istat_code)
  from odonimo_indir
  group by member_id, belfiore
  union all
  select
    'accesso',
    a.member_id,
    a.belfiore,
    min(i.istat_code)
  from (select distinct member_id, belfiore from accesso) a
  left join odonimo_indir i on i.member_id = a.member_id and i.belfiore = a.belfiore
  group by a.member_id, a.belfiore
)
select
  f.layer,
  m.file_id,
  '' as series,
  f.belfiore as place,
  null::int2 as region_code,
  core.region_of_istat_code(min(f.istat_code)) as likely_region_code,
  null as dated,
  true as named,
  null as name
from found f
join member m using (member_id)
group by f.layer, m.file_id, f.belfiore;
