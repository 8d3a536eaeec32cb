-- purpose: residents of each land parcel, spread from its census section
-- version: 1
-- reads: core.parcel, core.comune_register, core.census_figures, core.building_coverage, layer.census_indicator, section.demographics, section.buildings
-- writes: section.population
-- incremental: content
-- grain: one row per land parcel in a census section of which figures are known
-- crs: none; areas are those of core.parcel and section.buildings, EPSG:3035

-- Sections are numbered by the comuni of the bases, which may have merged since: figures of a comune are those of all that lead to it.
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
-- Those without a home are counted in a section that is no place. Where two files have a section, the newer counts.
published as (
  select distinct on (indicator.section_id)
    newest.number,
    indicator.population_total
  from census_indicator as indicator
  join newest
    on newest.number = left(indicator.section_id, -7)
    and newest.reference_year = indicator.reference_year
  join member_in_force as file using (member_id)
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

-- What residents are spread by, in hundredths of a square metre, so that every machine has the same remainders.
create table parcel_weight as
select
  demographics.fid,
  demographics.section_id,
  census_comune.comune,
  figures.population_total,
  figures.households,
  round(parcel.area_m2::numeric, 2) as area_m2,
  coverage.has_uses,
  coalesce(round(buildings.residential_footprint_m2::numeric, 2), 0) as residential_m2
from demographics
join census_figures as figures using (section_id)
join census_comune on census_comune.number = left(demographics.section_id, -7)
join parcel using (fid)
left join buildings using (fid)
left join building_coverage as coverage using (belfiore);

create table population as
with tract as (
  select
    section_id,
    sum(area_m2) as area_m2,
    -- Where the use of some of its buildings is not known, the others would get all residents.
    case when bool_and(coalesce(has_uses, false)) then nullif(sum(residential_m2), 0) end as residential_m2
  from parcel_weight
  group by section_id
),
-- Hundredths of a resident: whole ones first.
spread as (
  select
    parcel_weight.fid,
    parcel_weight.section_id,
    parcel_weight.comune,
    parcel_weight.population_total,
    parcel_weight.households,
    tract.residential_m2 is not null as is_dasymetric,
    div(population_total * 100 * parcel_weight.area_m2, nullif(tract.area_m2, 0)) as areal,
    mod(population_total * 100 * parcel_weight.area_m2, nullif(tract.area_m2, 0)) as areal_rest,
    div(population_total * 100 * parcel_weight.residential_m2, tract.residential_m2) as dasymetric,
    mod(population_total * 100 * parcel_weight.residential_m2, tract.residential_m2) as dasymetric_rest
  from parcel_weight
  join tract using (section_id)
),
-- What is left goes to the largest remainders, of equal ones to the smaller fid.
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
    *,
    coalesce((areal + (areal_turn <= areal_left)::int4) / 100, 0) as areal_residents,
    (dasymetric + (dasymetric_turn <= dasymetric_left)::int4) / 100 as dasymetric_residents
  from ranked
)
select
  estimate.fid,
  estimate.section_id,
  round(coalesce(estimate.dasymetric_residents, estimate.areal_residents), 2)::float8 as estimated,
  round(estimate.dasymetric_residents, 2)::float8 as dasymetric,
  round(estimate.areal_residents, 2)::float8 as areal,
  case when estimate.is_dasymetric then 'dasymetric' else 'areal' end as estimation_method,
  case
    when estimate.population_total > 0 then round(
      least(0.9, greatest(0.1,
        1 - abs(estimate.population_total - estimate.households * coalesce(comune_household.size, 0)) / estimate.population_total
      )) / case when estimate.is_dasymetric then 1 else 2 end,
      4
    )::float8
  end as estimation_confidence,
  comune_total.residents as municipality_total
from estimate
left join comune_household using (comune)
left join comune_total using (comune)
order by estimate.fid;

alter table population add primary key (fid);
