-- purpose: the census section of one parcel, and the weights that distribute the section's residents over parcels
-- reads: core.parcel, core.building_coverage, core.census_figures, section.demographics, section.buildings, layer.census_indicator, layer.census_section
-- writes: none
-- reruns: section.population
-- parcels: comune
-- grain: one row per value and source row
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
  'residents of the census section, distributed over the area of its land parcels' as rule
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
  'residents of the census section, distributed over the residential footprint of its parcels'
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
  'persons per household in the comune',
  '1 minus the relative difference between residents and households × mean household size of the comune; limited to 0.1–0.9, halved for areal'
from parcel_weight as weight
join tract using (section_id)
join census_figures as figures using (section_id)
where tract.household_size is not null
union all
select
  weight.fid,
  'estimated, areal',
  ground.section_id,
  ground.release_id,
  ground.member_id,
  ground.position,
  null,
  null,
  'census section that contains the representative point'
from parcel_weight as weight
join tract using (section_id)
join census_section as ground using (section_id)
where not ground.fictitious
union all
select
  weight.fid,
  'estimated, dasymetric',
  speaker.source,
  speaker.release_id,
  speaker.member_id,
  speaker.position,
  null,
  null,
  'source of the residential footprints over which the residents are distributed'
from parcel_weight as weight
join tract using (section_id)
join (
  select distinct
    other.section_id,
    coverage.source,
    coverage.release_id,
    coverage.member_id,
    coverage.position
  from parcel_weight as other
  join parcel on parcel.fid = other.fid
  join building_coverage as coverage using (belfiore)
) as speaker using (section_id)
where tract.is_dasymetric
union all
select
  weight.fid,
  'municipality_total',
  tract.municipality_total::text,
  counted.release_id,
  counted.member_id,
  counted.position,
  null,
  'persons',
  'residents of all census sections of the comune in its newest year'
from parcel_weight as weight
join tract using (section_id)
join census_comune as mine on mine.number = left(weight.section_id, -7)
join (
  -- Takes one row per comune and file.
  select distinct on (place.comune, indicator.member_id)
    place.comune,
    indicator.release_id,
    indicator.member_id,
    indicator.position
  from census_indicator as indicator
  join census_comune as place on place.number = left(indicator.section_id, -7)
  where indicator.reference_year = (
    select max(newest.reference_year)
    from census_indicator as newest
    where left(newest.section_id, -7) = place.number
  )
  order by place.comune, indicator.member_id, indicator.position
) as counted using (comune);
