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
  case when residents.estimation_method = 'areal' then 'estimated, areal' else 'areal' end as field,
  weight.population_total::text as value,
  figures.release_id,
  figures.member_id,
  figures.position,
  weight.area_m2 / nullif(tract.area_m2, 0) as measure,
  'share of the section''s land' as unit,
  'residents of the section, spread over the area of its land parcels' as rule
from parcel_weight as weight
join population as residents using (fid)
join (
  select
    section_id,
    sum(area_m2) as area_m2,
    sum(residential_m2) as residential_m2
  from parcel_weight
  group by section_id
) as tract on tract.section_id = weight.section_id
join census_figures as figures on figures.section_id = weight.section_id
union all
select
  weight.fid,
  'estimated, dasymetric',
  weight.population_total::text,
  figures.release_id,
  figures.member_id,
  figures.position,
  weight.residential_m2 / nullif(tract.residential_m2, 0),
  'share of the section''s residential footprint',
  'residents of the section, spread over the residential footprint of its parcels'
from parcel_weight as weight
join population as residents using (fid)
join (
  select
    section_id,
    sum(residential_m2) as residential_m2
  from parcel_weight
  group by section_id
) as tract on tract.section_id = weight.section_id
join census_figures as figures on figures.section_id = weight.section_id
where residents.estimation_method = 'dasymetric'
union all
select
  weight.fid,
  'estimation_confidence',
  weight.population_total || ' residents, ' || weight.households || ' households',
  figures.release_id,
  figures.member_id,
  figures.position,
  household.size::float8,
  'persons per household of the comune',
  'one minus the part of the residents that households times the comune''s mean do not explain; 0.1 to 0.9, half of it where areal'
from parcel_weight as weight
join comune_household as household using (comune)
join census_figures as figures on figures.section_id = weight.section_id;
