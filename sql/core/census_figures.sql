-- purpose: statistics of the region's census sections, from the newest reference year loaded for each comune
-- version: 2
-- reads: layer.census_section, layer.census_indicator
-- writes: core.census_figures
-- grain: one row per census section that has data
-- crs: none

-- In the 2021 edition, a census section without a row has no residents. Such a section gets zeros, unless the table of geometries states residents for it.
-- Later editions leave out complete comuni and single sections, so a missing row means unknown statistics, and no row is added. A comune is identified by the
-- first digits of its section numbers, because later editions may have the code of the merged comune.
create table census_figures as
with newest as (
  select
    r.code as region_code,
    left(i.section_id, -7) as comune,
    max(i.reference_year) as reference_year
  from census_indicator i
  join region r on r.code = i.region_code
  group by r.code, left(i.section_id, -7)
),
-- If two files assign a census section to different comuni, both files may have the section. The newer file is used.
known as (
  select distinct on (i.section_id)
    i.*
  from census_indicator i
  join newest n on n.region_code = i.region_code and n.comune = left(i.section_id, -7) and n.reference_year = i.reference_year
  join current_member m on m.member_id = i.member_id
  where right(i.section_id, 7) not in ('8888888', '9999999')
  order by i.section_id, m.rank
),
place as (
  select distinct on (s.section_id)
    s.*
  from census_section s
  join region r on r.code = s.region_code
  join current_member m on m.member_id = s.member_id
  where not s.fictitious
  order by s.section_id, m.rank
)
select
  n.region_code,
  section_id,
  coalesce(k.istat_code, p.istat_code) as istat_code,
  n.reference_year,
  coalesce(k.population_total, 0) as population_total,
  coalesce(k.male, 0) as male,
  coalesce(k.female, 0) as female,
  coalesce(k.age_0_4, 0) as age_0_4,
  coalesce(k.age_5_9, 0) as age_5_9,
  coalesce(k.age_10_14, 0) as age_10_14,
  coalesce(k.age_15_19, 0) as age_15_19,
  coalesce(k.age_20_24, 0) as age_20_24,
  coalesce(k.age_25_29, 0) as age_25_29,
  coalesce(k.age_30_34, 0) as age_30_34,
  coalesce(k.age_35_39, 0) as age_35_39,
  coalesce(k.age_40_44, 0) as age_40_44,
  coalesce(k.age_45_49, 0) as age_45_49,
  coalesce(k.age_50_54, 0) as age_50_54,
  coalesce(k.age_55_59, 0) as age_55_59,
  coalesce(k.age_60_64, 0) as age_60_64,
  coalesce(k.age_65_69, 0) as age_65_69,
  coalesce(k.age_70_74, 0) as age_70_74,
  coalesce(k.age_75_plus, 0) as age_75_plus,
  coalesce(k.education_no_title, 0) as education_no_title,
  coalesce(k.education_elementary, 0) as education_elementary,
  coalesce(k.education_middle_school, 0) as education_middle_school,
  coalesce(k.education_high_school, 0) as education_high_school,
  coalesce(k.education_university, 0) as education_university,
  coalesce(k.employed, 0) as employed,
  coalesce(k.foreigners, 0) as foreigners,
  coalesce(k.foreigners_eu, 0) as foreigners_eu,
  coalesce(k.foreigners_non_eu, 0) as foreigners_non_eu,
  coalesce(k.households, 0) as households,
  coalesce(k.households_1_member, 0) as households_1_member,
  coalesce(k.households_2_members, 0) as households_2_members,
  coalesce(k.households_3_members, 0) as households_3_members,
  coalesce(k.households_4_members, 0) as households_4_members,
  coalesce(k.households_5_members, 0) as households_5_members,
  coalesce(k.households_6_plus_members, 0) as households_6_plus_members,
  coalesce(k.dwellings_occupied, 0) as dwellings_occupied,
  -- If zeros replace a missing row, the citation names the record of the geometry.
  coalesce(k.release_id, p.release_id) as release_id,
  coalesce(k.member_id, p.member_id) as member_id,
  coalesce(k.position, p.position) as position
from known k
full join place p using (section_id)
join newest n on n.comune = left(section_id, -7)
where k.section_id is not null
  or (n.reference_year = 2021 and coalesce(p.population, 0) = 0)
order by section_id collate "C";

alter table census_figures add primary key (region_code, section_id);
