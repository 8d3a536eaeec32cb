-- purpose: the census editions from which the statistics and geometries of each comune come
-- cites: istat_census
-- reads: core.census_figures, layer.census_section
-- writes: none
-- grain: one row per vintage and comune, with comuni as in the base files
-- crs: none

select distinct
  left(f.section_id, -7) as key,
  'istat_census' as source_id,
  m.vintage
from census_figures f
join current_member m on m.member_id = f.member_id
union
select
  left(s.section_id, -7),
  'istat_census',
  m.vintage
from census_section s
join current_member m on m.member_id = s.member_id
where not s.fictitious;
