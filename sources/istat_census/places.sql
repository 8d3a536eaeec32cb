-- purpose: the comuni of the census in each file, with their year
-- reads: layer.census_section, layer.census_indicator
-- writes: place
-- grain: one row per layer, file, reference year and comune
-- crs: none

create table place as
with found as (
  select distinct
    'census_section' as layer,
    member_id,
    '' as series,
    istat_code,
    region_code
  from census_section
  union all
  select distinct
    'census_indicator',
    member_id,
    reference_year::text,
    istat_code,
    region_code
  from census_indicator
)
select
  f.layer,
  m.file_id,
  f.series,
  f.istat_code as place,
  min(f.region_code) as region_code,
  null::int2 as likely_region_code,
  null as dated,
  true as named,
  null as name
from found f
join member m using (member_id)
group by f.layer, m.file_id, f.series, f.istat_code;
