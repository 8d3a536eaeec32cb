-- purpose: which years the figures of a region's census sections are of
-- cites: istat_census
-- reads: section.demographics, core.census_figures
-- writes: none
-- grain: one row per source and vintage
-- crs: none

with used as (
  select distinct section_id
  from demographics
)
select distinct
  'istat_census' as source_id,
  f.reference_year::text as vintage
from used u
join census_figures f on f.section_id = u.section_id
union
-- The sections themselves are those of the bases.
select
  'istat_census',
  '2021'
from used u;
