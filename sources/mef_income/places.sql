-- purpose: the comuni, years and levels in each file
-- reads: layer.income
-- writes: place
-- grain: one row per file, tax year, level and comune; taxpayers without a comune have the empty one
-- crs: none

create table place as
select
  'income' as layer,
  m.file_id,
  i.tax_year || ' ' || i.level as series,
  coalesce(i.belfiore, '') as place,
  null::int2 as region_code,
  min(i.region_code) as likely_region_code,
  null as dated,
  true as named,
  null as name
from income i
join member m using (member_id)
group by m.file_id, i.tax_year, i.level, i.belfiore;
