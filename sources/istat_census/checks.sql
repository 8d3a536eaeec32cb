-- purpose: checks a release of census sections or indicators
-- reads: layer.census_section, layer.census_indicator
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: census_section_unique
-- level: error
-- expects: each census section has one row in a file
select
  file_id,
  section_id,
  count(*) as rows
from census_section
join member using (member_id)
group by file_id, section_id
having count(*) > 1;

-- check: census_indicator_unique
-- level: error
-- expects: each census section has one row per reference year in a file
select
  file_id,
  section_id,
  reference_year,
  count(*) as rows
from census_indicator
join member using (member_id)
group by file_id, section_id, reference_year
having count(*) > 1;

-- check: census_section_valid
-- level: error
-- expects: every census section is a valid polygon with an area
select
  section_id
from census_section
where not st_isvalid(geom)
  or st_isempty(geom);

-- check: census_sum_of_sexes
-- level: warn
-- expects: men and women add up to the residents (P1 = P2 + P3)
select
  section_id,
  reference_year,
  population_total,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    male
    + female as sum_of_parts
) as parts
where population_total <> sum_of_parts;

-- check: census_sum_of_ages
-- level: warn
-- expects: the age bands add up to the residents (P1 = P14 + … + P29)
select
  section_id,
  reference_year,
  population_total,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    age_0_4
    + age_5_9
    + age_10_14
    + age_15_19
    + age_20_24
    + age_25_29
    + age_30_34
    + age_35_39
    + age_40_44
    + age_45_49
    + age_50_54
    + age_55_59
    + age_60_64
    + age_65_69
    + age_70_74
    + age_75_plus as sum_of_parts
) as parts
where population_total <> sum_of_parts;

-- check: census_sum_of_ages_male
-- level: warn
-- expects: the age bands of men add up to the men (P2 = P30 + … + P45)
select
  section_id,
  reference_year,
  male,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    male_0_4
    + male_5_9
    + male_10_14
    + male_15_19
    + male_20_24
    + male_25_29
    + male_30_34
    + male_35_39
    + male_40_44
    + male_45_49
    + male_50_54
    + male_55_59
    + male_60_64
    + male_65_69
    + male_70_74
    + male_75_plus as sum_of_parts
) as parts
where male <> sum_of_parts;

-- check: census_sum_of_ages_female
-- level: warn
-- expects: the age bands of women add up to the women (P3 = P67 + … + P82)
select
  section_id,
  reference_year,
  female,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    female_0_4
    + female_5_9
    + female_10_14
    + female_15_19
    + female_20_24
    + female_25_29
    + female_30_34
    + female_35_39
    + female_40_44
    + female_45_49
    + female_50_54
    + female_55_59
    + female_60_64
    + female_65_69
    + female_70_74
    + female_75_plus as sum_of_parts
) as parts
where female <> sum_of_parts;

-- check: census_sum_of_households
-- level: warn
-- expects: the households by size add up to the households (PF1 = PF3 + … + PF8)
select
  section_id,
  reference_year,
  households,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    households_1_member
    + households_2_members
    + households_3_members
    + households_4_members
    + households_5_members
    + households_6_plus_members as sum_of_parts
) as parts
where households <> sum_of_parts;

-- check: census_sum_of_citizenship
-- level: warn
-- expects: Italians and foreigners add up to the residents (P1 = IT1 + IT2 + IT3 + ST1)
select
  section_id,
  reference_year,
  population_total,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    italians_0_14
    + italians_15_64
    + italians_65_plus
    + foreigners as sum_of_parts
) as parts
where population_total <> sum_of_parts;

-- check: census_sum_of_foreigners_origin
-- level: warn
-- expects: EU and non-EU foreigners add up to the foreigners (ST1 = ST16 + ST19)
select
  section_id,
  reference_year,
  foreigners,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    foreigners_eu
    + foreigners_non_eu as sum_of_parts
) as parts
where foreigners <> sum_of_parts;

-- check: census_sum_of_foreigners_ages
-- level: warn
-- expects: the ages of foreigners add up to the foreigners (ST1 = ST22 + ST23 + ST24)
select
  section_id,
  reference_year,
  foreigners,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    foreigners_0_14
    + foreigners_15_64
    + foreigners_65_plus as sum_of_parts
) as parts
where foreigners <> sum_of_parts;

-- check: census_sum_of_education
-- level: warn
-- expects: the educational titles add up to the residents aged 9 and more (P83 = P86 + … + P90)
select
  section_id,
  reference_year,
  aged_9_plus,
  sum_of_parts
from census_indicator
cross join lateral (
  select
    education_no_title
    + education_elementary
    + education_middle_school
    + education_high_school
    + education_university as sum_of_parts
) as parts
where aged_9_plus <> sum_of_parts;
