-- purpose: the census section of one parcel
-- reads: core.parcel, core.census_figures, layer.census_section
-- writes: none
-- reruns: section.demographics
-- parcels: comune
-- grain: one row per field and source row
-- crs: none

create view evidence as
select
  d.fid,
  'section_id' as field,
  d.section_id as value,
  s.release_id,
  s.member_id,
  s.position,
  d.parcel_share as measure,
  'share of the section''s land' as unit,
  'census section that contains the representative point' as rule
from demographics d
join census_section s on s.section_id = d.section_id
join census_figures f on f.section_id = d.section_id
where not s.fictitious
union all
select
  d.fid,
  'population_total and all other numbers',
  f.population_total || ' (' || f.reference_year || ')',
  f.release_id,
  f.member_id,
  f.position,
  null,
  'persons',
  'statistics of the census section'
from demographics d
join census_figures f on f.section_id = d.section_id;
