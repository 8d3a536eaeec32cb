-- purpose: repairs census sections, reprojects them once, and loads indicators once per census section and year
-- reads: staging.raw_census_section, staging.raw_census_indicator
-- writes: layer.census_section, layer.census_indicator, duplicate, reject
-- grain: one row per census section; one row per census section and reference year
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 200 m before they are reprojected. See core.in_degrees.
create table clean_section as
with reprojected as materialized (
  select
    member_id,
    position,
    section_id,
    core.in_degrees(geom, 200) as geom
  from raw_census_section
),
judged as materialized (
  select
    member_id,
    position,
    section_id,
    st_isvalid(geom) as valid,
    geom
  from reprojected
)
select
  member_id,
  position,
  section_id,
  valid,
  st_multi(case when valid then geom else st_collectionextract(st_makevalid(geom), 3) end) as geom
from judged;

-- Keeps the first record with an area of each census section in a file. The other records with an area are duplicates.
insert into duplicate (member_id, position, code)
select
  member_id,
  position,
  'section_repeated'
from (
  select
    c.member_id,
    c.position,
    row_number() over (partition by member.file_id, c.section_id order by c.member_id, c.position) as nth
  from clean_section as c
  join member using (member_id)
  where not st_isempty(c.geom)
) as ranked
where nth > 1;

create table reject as
select
  member_id,
  position,
  'geometry_without_area' as code,
  'expected a polygon with an area, found a polygon that is empty after the repair' as message,
  section_id as raw
from clean_section
where st_isempty(geom);

-- If a file contains several polygons of a census section, the polygons are merged into one, so that no area is lost.
create table census_section as
with part as (
  select
    file_id,
    section_id,
    bool_or(not valid) as made_valid,
    case when count(*) = 1 then (array_agg(geom))[1] else st_multi(st_union(geom, core.overlay_grid(0.0001))) end as geom
  from clean_section
  join member using (member_id)
  where not st_isempty(geom)
  group by file_id, section_id
)
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.section_id,
  raw.region_code,
  raw.istat_code,
  raw.tipo_loc,
  raw.population,
  raw.households,
  right(raw.section_id, 7) in ('8888888', '9999999') as fictitious,
  part.made_valid,
  part.geom::geometry(multipolygon, 4326) as geom
from raw_census_section as raw
join member using (member_id)
join part using (file_id, section_id)
cross join release
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position)
  and not exists (
    select
    from reject
    where reject.member_id = raw.member_id
      and reject.position = raw.position
  )
order by raw.section_id collate "C";

create table census_indicator as
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.section_id,
  raw.region_code,
  raw.istat_code,
  raw.reference_year,
  raw.population_total,
  raw.male,
  raw.female,
  raw.age_0_4,
  raw.age_5_9,
  raw.age_10_14,
  raw.age_15_19,
  raw.age_20_24,
  raw.age_25_29,
  raw.age_30_34,
  raw.age_35_39,
  raw.age_40_44,
  raw.age_45_49,
  raw.age_50_54,
  raw.age_55_59,
  raw.age_60_64,
  raw.age_65_69,
  raw.age_70_74,
  raw.age_75_plus,
  raw.male_0_4,
  raw.male_5_9,
  raw.male_10_14,
  raw.male_15_19,
  raw.male_20_24,
  raw.male_25_29,
  raw.male_30_34,
  raw.male_35_39,
  raw.male_40_44,
  raw.male_45_49,
  raw.male_50_54,
  raw.male_55_59,
  raw.male_60_64,
  raw.male_65_69,
  raw.male_70_74,
  raw.male_75_plus,
  raw.female_0_4,
  raw.female_5_9,
  raw.female_10_14,
  raw.female_15_19,
  raw.female_20_24,
  raw.female_25_29,
  raw.female_30_34,
  raw.female_35_39,
  raw.female_40_44,
  raw.female_45_49,
  raw.female_50_54,
  raw.female_55_59,
  raw.female_60_64,
  raw.female_65_69,
  raw.female_70_74,
  raw.female_75_plus,
  raw.aged_9_plus,
  raw.education_no_title,
  raw.education_elementary,
  raw.education_middle_school,
  raw.education_high_school,
  raw.education_university,
  raw.employed,
  raw.italians_0_14,
  raw.italians_15_64,
  raw.italians_65_plus,
  raw.foreigners,
  raw.foreigners_eu,
  raw.foreigners_non_eu,
  raw.foreigners_0_14,
  raw.foreigners_15_64,
  raw.foreigners_65_plus,
  raw.households,
  raw.households_1_member,
  raw.households_2_members,
  raw.households_3_members,
  raw.households_4_members,
  raw.households_5_members,
  raw.households_6_plus_members,
  raw.dwellings_occupied
from raw_census_indicator as raw
cross join release
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position)
order by raw.section_id collate "C", raw.reference_year;

drop table clean_section;
