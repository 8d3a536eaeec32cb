-- purpose: residents of each land parcel, distributed from its census section
-- version: 1
-- reads: core.parcel, core.comune_register, core.census_figures, core.building_coverage, layer.census_indicator, section.demographics, section.buildings
-- writes: section.population
-- incremental: rows of parcels without a change of the same section_id
-- grain: one row per land parcel in a census section with published statistics
-- crs: none; areas are from core.parcel and section.buildings, EPSG:3035

-- The number of a census section begins with the code that its comune had in the census. The comune may have merged since. The total of a comune is the sum
-- over all former comuni that were merged into the comune.
create table census_comune as
select
  bases.number,
  coalesce(min(register.belfiore collate "C"), bases.number) as comune
from (
  select left(section_id, -7) as number from census_figures
  union
  select left(section_id, -7) from census_indicator
) as bases
left join comune_register as register
  on register.old_istat_code = lpad(bases.number, 6, '0')
  and not register.divided
group by bases.number;

create table comune_total as
with newest as (
  select
    left(section_id, -7) as number,
    max(reference_year) as reference_year
  from census_indicator
  group by left(section_id, -7)
),
-- Also reads the fictitious census section of homeless people, which has no location. If two files contain a census section, the newer file is used.
published as (
  select distinct on (indicator.section_id)
    newest.number,
    indicator.population_total
  from census_indicator as indicator
  join newest
    on newest.number = left(indicator.section_id, -7)
    and newest.reference_year = indicator.reference_year
  join current_member as file using (member_id)
  order by indicator.section_id, file.rank
)
select
  census_comune.comune,
  sum(published.population_total)::int4 as residents
from published
join census_comune using (number)
group by census_comune.comune;

create table comune_household as
select
  census_comune.comune,
  sum(figures.population_total)::numeric / nullif(sum(figures.households), 0) as size
from census_figures as figures
join census_comune on census_comune.number = left(figures.section_id, -7)
group by census_comune.comune;

-- Weights of the distribution, as integers in hundredths of a square metre, so every machine computes the same remainders.
create unlogged table parcel_weight as
select
  demographics.fid,
  demographics.section_id,
  (round(parcel.area_m2::numeric, 2) * 100)::int8 as area,
  coverage.has_uses,
  coalesce((round(buildings.residential_footprint_m2::numeric, 2) * 100)::int8, 0) as residential
from demographics
join parcel using (fid)
left join buildings using (fid)
left join building_coverage as coverage using (belfiore);

-- Uses residential areas only if the sources of buildings state uses in every comune of the census section. Otherwise, the parcels of the comuni with known
-- uses would get all residents.
create table tract as
select
  weight.section_id,
  min(figures.population_total) as population_total,
  sum(weight.area)::int8 as area,
  bool_and(coalesce(weight.has_uses, false)) and sum(weight.residential) > 0 as is_dasymetric,
  case when bool_and(coalesce(weight.has_uses, false)) then nullif(sum(weight.residential), 0)::int8 end as residential,
  min(comune_household.size) as household_size,
  min(figures.households) as households,
  min(comune_total.residents) as municipality_total
from parcel_weight as weight
join census_figures as figures using (section_id)
join census_comune on census_comune.number = left(weight.section_id, -7)
left join comune_household using (comune)
left join comune_total using (comune)
group by weight.section_id;

analyze tract;

create table population as
with spread as (
  -- Computes residents in hundredths, and assigns the complete hundredths first.
  select
    weight.fid,
    weight.section_id,
    tract.population_total,
    tract.population_total * 100::int8 * weight.area / nullif(tract.area, 0) as areal,
    tract.population_total * 100::int8 * weight.area % nullif(tract.area, 0) as areal_rest,
    tract.population_total * 100::int8 * weight.residential / tract.residential as dasymetric,
    tract.population_total * 100::int8 * weight.residential % tract.residential as dasymetric_rest
  from parcel_weight as weight
  join tract using (section_id)
),
-- Assigns the remaining hundredths, one each, to the parcels with the largest remainders. If remainders are equal, the smaller fid comes first.
ranked as (
  select
    *,
    population_total * 100 - sum(areal) over whole as areal_left,
    row_number() over (partition by section_id order by areal_rest desc, fid) as areal_turn,
    population_total * 100 - sum(dasymetric) over whole as dasymetric_left,
    row_number() over (partition by section_id order by dasymetric_rest desc, fid) as dasymetric_turn
  from spread
  window whole as (partition by section_id)
),
estimate as (
  select
    fid,
    section_id,
    coalesce(areal + (areal_turn <= areal_left)::int4, 0)::float8 / 100 as areal,
    (dasymetric + (dasymetric_turn <= dasymetric_left)::int4)::float8 / 100 as dasymetric
  from ranked
),
confidence as (
  select
    section_id,
    is_dasymetric,
    municipality_total,
    case
      when population_total > 0 then round(
        least(0.9, greatest(0.1, 1 - abs(population_total - households * coalesce(household_size, 0)) / population_total)) / case when is_dasymetric then 1 else 2 end,
        4
      )::float8
    end as estimation_confidence
  from tract
)
select
  estimate.fid,
  estimate.section_id,
  coalesce(estimate.dasymetric, estimate.areal) as estimated,
  estimate.dasymetric,
  estimate.areal,
  case when confidence.is_dasymetric then 'dasymetric' else 'areal' end as estimation_method,
  confidence.estimation_confidence,
  confidence.municipality_total
from estimate
join confidence using (section_id)
order by estimate.fid;

alter table population add primary key (fid);
-- serves: the parcels of a census section, which a refresh builds at the same time
create index on population (section_id);
