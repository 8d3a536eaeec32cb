-- purpose: census sections (territorial bases 2021) and their indicators
-- reads: none
-- writes: layer.census_section, layer.census_indicator
-- grain: one row per census section; one row per census section and reference year
-- crs: EPSG:4326

create table layer.census_section (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  section_id text not null,
  region_code int2 not null,
  istat_code text not null,
  tipo_loc int2,
  population int4,
  households int4,
  fictitious bool not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);

comment on table layer.census_section is 'Census sections of the territorial bases 2021.';
comment on column layer.census_section.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.census_section.member_id is 'Member that the row was read from (ledger.member): the shapefile.';
comment on column layer.census_section.position is 'Number of the feature in its shapefile, from 1.';
comment on column layer.census_section.section_id is 'SEZ21_ID: number of the comune and 7 digits, without leading zeros, as published (11–13 digits).';
comment on column layer.census_section.region_code is 'ISTAT region code.';
comment on column layer.census_section.istat_code is 'ISTAT code of the comune, 6 digits.';
comment on column layer.census_section.tipo_loc is 'Kind of locality: 1 centro, 2 nucleo, 3 località produttiva, 4 case sparse; null if not stated.';
comment on column layer.census_section.population is 'Residents as stated in the table of the geometry; null if not stated.';
comment on column layer.census_section.households is 'Households as stated in the table of the geometry; null if not stated.';
comment on column layer.census_section.fictitious is 'True for …8888888 (people without a home, one per comune) and …9999999 (contested areas). They are not places and are never matched with parcels.';
comment on column layer.census_section.made_valid is 'True if the published polygon was invalid and was repaired.';
comment on column layer.census_section.geom is 'Polygon, EPSG:4326 longitude latitude.';

create table layer.census_indicator (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  section_id text not null,
  region_code int2 not null,
  istat_code text not null,
  reference_year int2 not null,
  population_total int4 not null,
  male int4 not null,
  female int4 not null,
  age_0_4 int4 not null,
  age_5_9 int4 not null,
  age_10_14 int4 not null,
  age_15_19 int4 not null,
  age_20_24 int4 not null,
  age_25_29 int4 not null,
  age_30_34 int4 not null,
  age_35_39 int4 not null,
  age_40_44 int4 not null,
  age_45_49 int4 not null,
  age_50_54 int4 not null,
  age_55_59 int4 not null,
  age_60_64 int4 not null,
  age_65_69 int4 not null,
  age_70_74 int4 not null,
  age_75_plus int4 not null,
  male_0_4 int4 not null,
  male_5_9 int4 not null,
  male_10_14 int4 not null,
  male_15_19 int4 not null,
  male_20_24 int4 not null,
  male_25_29 int4 not null,
  male_30_34 int4 not null,
  male_35_39 int4 not null,
  male_40_44 int4 not null,
  male_45_49 int4 not null,
  male_50_54 int4 not null,
  male_55_59 int4 not null,
  male_60_64 int4 not null,
  male_65_69 int4 not null,
  male_70_74 int4 not null,
  male_75_plus int4 not null,
  female_0_4 int4 not null,
  female_5_9 int4 not null,
  female_10_14 int4 not null,
  female_15_19 int4 not null,
  female_20_24 int4 not null,
  female_25_29 int4 not null,
  female_30_34 int4 not null,
  female_35_39 int4 not null,
  female_40_44 int4 not null,
  female_45_49 int4 not null,
  female_50_54 int4 not null,
  female_55_59 int4 not null,
  female_60_64 int4 not null,
  female_65_69 int4 not null,
  female_70_74 int4 not null,
  female_75_plus int4 not null,
  aged_9_plus int4 not null,
  education_no_title int4 not null,
  education_elementary int4 not null,
  education_middle_school int4 not null,
  education_high_school int4 not null,
  education_university int4 not null,
  employed int4 not null,
  italians_0_14 int4 not null,
  italians_15_64 int4 not null,
  italians_65_plus int4 not null,
  foreigners int4 not null,
  foreigners_eu int4 not null,
  foreigners_non_eu int4 not null,
  foreigners_0_14 int4 not null,
  foreigners_15_64 int4 not null,
  foreigners_65_plus int4 not null,
  households int4 not null,
  households_1_member int4 not null,
  households_2_members int4 not null,
  households_3_members int4 not null,
  households_4_members int4 not null,
  households_5_members int4 not null,
  households_6_plus_members int4 not null,
  dwellings_occupied int4 not null
) partition by list (release_id);

comment on table layer.census_indicator is 'Indicators of the permanent census by census section of the 2021 bases. No small counts are withheld. A census section without a row had no residents in the edition 2021, and is unknown in later ones.';
comment on column layer.census_indicator.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.census_indicator.member_id is 'Member that the row was read from (ledger.member): the workbook or CSV.';
comment on column layer.census_indicator.position is 'Row of the sheet, or line of the CSV.';
comment on column layer.census_indicator.section_id is 'SEZ21_ID, as in census_section.';
comment on column layer.census_indicator.region_code is 'ISTAT region code.';
comment on column layer.census_indicator.istat_code is 'ISTAT code of the comune, 6 digits.';
comment on column layer.census_indicator.reference_year is 'Year of the data (31 December).';
comment on column layer.census_indicator.population_total is 'Residents.';
comment on column layer.census_indicator.male is 'Residents, male.';
comment on column layer.census_indicator.female is 'Residents, female.';
comment on column layer.census_indicator.age_0_4 is 'Residents aged 0–4 years.';
comment on column layer.census_indicator.age_5_9 is 'Residents aged 5–9 years.';
comment on column layer.census_indicator.age_10_14 is 'Residents aged 10–14 years.';
comment on column layer.census_indicator.age_15_19 is 'Residents aged 15–19 years.';
comment on column layer.census_indicator.age_20_24 is 'Residents aged 20–24 years.';
comment on column layer.census_indicator.age_25_29 is 'Residents aged 25–29 years.';
comment on column layer.census_indicator.age_30_34 is 'Residents aged 30–34 years.';
comment on column layer.census_indicator.age_35_39 is 'Residents aged 35–39 years.';
comment on column layer.census_indicator.age_40_44 is 'Residents aged 40–44 years.';
comment on column layer.census_indicator.age_45_49 is 'Residents aged 45–49 years.';
comment on column layer.census_indicator.age_50_54 is 'Residents aged 50–54 years.';
comment on column layer.census_indicator.age_55_59 is 'Residents aged 55–59 years.';
comment on column layer.census_indicator.age_60_64 is 'Residents aged 60–64 years.';
comment on column layer.census_indicator.age_65_69 is 'Residents aged 65–69 years.';
comment on column layer.census_indicator.age_70_74 is 'Residents aged 70–74 years.';
comment on column layer.census_indicator.age_75_plus is 'Residents aged 75 and more years.';
comment on column layer.census_indicator.male_0_4 is 'Residents aged 0–4 years, male.';
comment on column layer.census_indicator.male_5_9 is 'Residents aged 5–9 years, male.';
comment on column layer.census_indicator.male_10_14 is 'Residents aged 10–14 years, male.';
comment on column layer.census_indicator.male_15_19 is 'Residents aged 15–19 years, male.';
comment on column layer.census_indicator.male_20_24 is 'Residents aged 20–24 years, male.';
comment on column layer.census_indicator.male_25_29 is 'Residents aged 25–29 years, male.';
comment on column layer.census_indicator.male_30_34 is 'Residents aged 30–34 years, male.';
comment on column layer.census_indicator.male_35_39 is 'Residents aged 35–39 years, male.';
comment on column layer.census_indicator.male_40_44 is 'Residents aged 40–44 years, male.';
comment on column layer.census_indicator.male_45_49 is 'Residents aged 45–49 years, male.';
comment on column layer.census_indicator.male_50_54 is 'Residents aged 50–54 years, male.';
comment on column layer.census_indicator.male_55_59 is 'Residents aged 55–59 years, male.';
comment on column layer.census_indicator.male_60_64 is 'Residents aged 60–64 years, male.';
comment on column layer.census_indicator.male_65_69 is 'Residents aged 65–69 years, male.';
comment on column layer.census_indicator.male_70_74 is 'Residents aged 70–74 years, male.';
comment on column layer.census_indicator.male_75_plus is 'Residents aged 75 and more years, male.';
comment on column layer.census_indicator.female_0_4 is 'Residents aged 0–4 years, female.';
comment on column layer.census_indicator.female_5_9 is 'Residents aged 5–9 years, female.';
comment on column layer.census_indicator.female_10_14 is 'Residents aged 10–14 years, female.';
comment on column layer.census_indicator.female_15_19 is 'Residents aged 15–19 years, female.';
comment on column layer.census_indicator.female_20_24 is 'Residents aged 20–24 years, female.';
comment on column layer.census_indicator.female_25_29 is 'Residents aged 25–29 years, female.';
comment on column layer.census_indicator.female_30_34 is 'Residents aged 30–34 years, female.';
comment on column layer.census_indicator.female_35_39 is 'Residents aged 35–39 years, female.';
comment on column layer.census_indicator.female_40_44 is 'Residents aged 40–44 years, female.';
comment on column layer.census_indicator.female_45_49 is 'Residents aged 45–49 years, female.';
comment on column layer.census_indicator.female_50_54 is 'Residents aged 50–54 years, female.';
comment on column layer.census_indicator.female_55_59 is 'Residents aged 55–59 years, female.';
comment on column layer.census_indicator.female_60_64 is 'Residents aged 60–64 years, female.';
comment on column layer.census_indicator.female_65_69 is 'Residents aged 65–69 years, female.';
comment on column layer.census_indicator.female_70_74 is 'Residents aged 70–74 years, female.';
comment on column layer.census_indicator.female_75_plus is 'Residents aged 75 and more years, female.';
comment on column layer.census_indicator.aged_9_plus is 'Residents aged 9 years and more, to whom the education fields refer.';
comment on column layer.census_indicator.education_no_title is 'Residents aged 9 and more without a school title.';
comment on column layer.census_indicator.education_elementary is 'Residents aged 9 and more with primary school (licenza elementare).';
comment on column layer.census_indicator.education_middle_school is 'Residents aged 9 and more with lower secondary school (licenza media).';
comment on column layer.census_indicator.education_high_school is 'Residents aged 9 and more with upper secondary school, vocational qualifications included.';
comment on column layer.census_indicator.education_university is 'Residents aged 9 and more with a tertiary title, doctorates included.';
comment on column layer.census_indicator.employed is 'Employed residents aged 15–64.';
comment on column layer.census_indicator.italians_0_14 is 'Italian residents aged 0–14.';
comment on column layer.census_indicator.italians_15_64 is 'Italian residents aged 15–64.';
comment on column layer.census_indicator.italians_65_plus is 'Italian residents aged 65 and more.';
comment on column layer.census_indicator.foreigners is 'Foreign and stateless residents.';
comment on column layer.census_indicator.foreigners_eu is 'Foreign residents with the citizenship of an EU country.';
comment on column layer.census_indicator.foreigners_non_eu is 'Foreign residents without the citizenship of an EU country.';
comment on column layer.census_indicator.foreigners_0_14 is 'Foreign residents aged 0–14.';
comment on column layer.census_indicator.foreigners_15_64 is 'Foreign residents aged 15–64.';
comment on column layer.census_indicator.foreigners_65_plus is 'Foreign residents aged 65 and more.';
comment on column layer.census_indicator.households is 'Resident households.';
comment on column layer.census_indicator.households_1_member is 'Resident households of 1 member.';
comment on column layer.census_indicator.households_2_members is 'Resident households of 2 members.';
comment on column layer.census_indicator.households_3_members is 'Resident households of 3 members.';
comment on column layer.census_indicator.households_4_members is 'Resident households of 4 members.';
comment on column layer.census_indicator.households_5_members is 'Resident households of 5 members.';
comment on column layer.census_indicator.households_6_plus_members is 'Resident households of 6 and more members.';
comment on column layer.census_indicator.dwellings_occupied is 'Dwellings occupied by at least one resident.';
