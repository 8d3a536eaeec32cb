-- purpose: the census section that the residents of one parcel are spread from, and by what
-- reads: core.parcel, core.census_figures, section.demographics, section.buildings
-- writes: none
-- reruns: section.population
-- parcels: comune
-- grain: one row per figure
-- crs: none

create view evidence as
select
  weight.fid,
  case when tract.is_dasymetric then 'areal' else 'estimated, areal' end as field,
  tract.population_total::text as value,
  figures.release_id,
  figures.member_id,
  figures.position,
  weight.area / nullif(tract.area, 0)::float8 as measure,
  'share of the section''s land' as unit,
  'residents of the section, spread over the area of its land parcels' as rule
from parcel_weight as weight
join tract using (section_id)
join census_figures as figures using (section_id)
union all
select
  weight.fid,
  'estimated, dasymetric',
  tract.population_total::text,
  figures.release_id,
  figures.member_id,
  figures.position,
  weight.residential / tract.residential::float8,
  'share of the section''s residential footprint',
  'residents of the section, spread over the residential footprint of its parcels'
from parcel_weight as weight
join tract using (section_id)
join census_figures as figures using (section_id)
where tract.is_dasymetric
union all
select
  weight.fid,
  'estimation_confidence',
  tract.population_total || ' residents, ' || tract.households || ' households',
  figures.release_id,
  figures.member_id,
  figures.position,
  tract.household_size::float8,
  'persons per household of the comune',
  'one minus the part of the residents that households times the comune''s mean do not explain; 0.1 to 0.9, half of it where areal'
from parcel_weight as weight
join tract using (section_id)
join census_figures as figures using (section_id)
where tract.household_size is not null;
