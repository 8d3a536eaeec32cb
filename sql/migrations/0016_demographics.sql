-- purpose: census figures by section, and the section demographics
-- reads: none
-- writes: core.census_figures, section.demographics
-- grain: one row per census section; one row per land parcel that lies in a section
-- crs: none

create table core.census_figures (
  region_code int2 not null,
  section_id text not null,
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
  education_no_title int4 not null,
  education_elementary int4 not null,
  education_middle_school int4 not null,
  education_high_school int4 not null,
  education_university int4 not null,
  employed int4 not null,
  foreigners int4 not null,
  foreigners_eu int4 not null,
  foreigners_non_eu int4 not null,
  households int4 not null,
  households_1_member int4 not null,
  households_2_members int4 not null,
  households_3_members int4 not null,
  households_4_members int4 not null,
  households_5_members int4 not null,
  households_6_plus_members int4 not null,
  dwellings_occupied int4 not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, section_id)
) partition by list (region_code);
comment on table core.census_figures is 'Figures of the census sections, newest reference year of the region, one partition per region. Whole sections, never divided among parcels. No row: nothing is known of the section';
comment on column core.census_figures.region_code is 'ISTAT region code';
comment on column core.census_figures.section_id is 'SEZ21_ID: number of the comune and 7 digits, without leading zeros, as published';
comment on column core.census_figures.istat_code is 'ISTAT code of the comune, 6 digits';
comment on column core.census_figures.reference_year is 'Year of the data (31 December)';
comment on column core.census_figures.population_total is 'Residents; 0 is a true zero';
comment on column core.census_figures.male is 'Residents, male; 0 is a true zero';
comment on column core.census_figures.female is 'Residents, female; 0 is a true zero';
comment on column core.census_figures.age_0_4 is 'Residents aged 0–4 years; 0 is a true zero';
comment on column core.census_figures.age_5_9 is 'Residents aged 5–9 years; 0 is a true zero';
comment on column core.census_figures.age_10_14 is 'Residents aged 10–14 years; 0 is a true zero';
comment on column core.census_figures.age_15_19 is 'Residents aged 15–19 years; 0 is a true zero';
comment on column core.census_figures.age_20_24 is 'Residents aged 20–24 years; 0 is a true zero';
comment on column core.census_figures.age_25_29 is 'Residents aged 25–29 years; 0 is a true zero';
comment on column core.census_figures.age_30_34 is 'Residents aged 30–34 years; 0 is a true zero';
comment on column core.census_figures.age_35_39 is 'Residents aged 35–39 years; 0 is a true zero';
comment on column core.census_figures.age_40_44 is 'Residents aged 40–44 years; 0 is a true zero';
comment on column core.census_figures.age_45_49 is 'Residents aged 45–49 years; 0 is a true zero';
comment on column core.census_figures.age_50_54 is 'Residents aged 50–54 years; 0 is a true zero';
comment on column core.census_figures.age_55_59 is 'Residents aged 55–59 years; 0 is a true zero';
comment on column core.census_figures.age_60_64 is 'Residents aged 60–64 years; 0 is a true zero';
comment on column core.census_figures.age_65_69 is 'Residents aged 65–69 years; 0 is a true zero';
comment on column core.census_figures.age_70_74 is 'Residents aged 70–74 years; 0 is a true zero';
comment on column core.census_figures.age_75_plus is 'Residents aged 75 and more years; 0 is a true zero';
comment on column core.census_figures.education_no_title is 'Residents aged 9 and more without a school title; 0 is a true zero';
comment on column core.census_figures.education_elementary is 'Residents aged 9 and more with primary school (licenza elementare); 0 is a true zero';
comment on column core.census_figures.education_middle_school is 'Residents aged 9 and more with lower secondary school (licenza media); 0 is a true zero';
comment on column core.census_figures.education_high_school is 'Residents aged 9 and more with upper secondary school, vocational qualifications included; 0 is a true zero';
comment on column core.census_figures.education_university is 'Residents aged 9 and more with a tertiary title, doctorates included; 0 is a true zero';
comment on column core.census_figures.employed is 'Employed residents aged 15–64; 0 is a true zero';
comment on column core.census_figures.foreigners is 'Foreign and stateless residents; 0 is a true zero';
comment on column core.census_figures.foreigners_eu is 'Foreign residents with the citizenship of an EU country; 0 is a true zero';
comment on column core.census_figures.foreigners_non_eu is 'Foreign residents without the citizenship of an EU country; 0 is a true zero';
comment on column core.census_figures.households is 'Resident households; 0 is a true zero';
comment on column core.census_figures.households_1_member is 'Resident households of 1 member; 0 is a true zero';
comment on column core.census_figures.households_2_members is 'Resident households of 2 members; 0 is a true zero';
comment on column core.census_figures.households_3_members is 'Resident households of 3 members; 0 is a true zero';
comment on column core.census_figures.households_4_members is 'Resident households of 4 members; 0 is a true zero';
comment on column core.census_figures.households_5_members is 'Resident households of 5 members; 0 is a true zero';
comment on column core.census_figures.households_6_plus_members is 'Resident households of 6 and more members; 0 is a true zero';
comment on column core.census_figures.dwellings_occupied is 'Dwellings occupied by at least one resident; 0 is a true zero';
comment on column core.census_figures.release_id is 'Release it was read from (ledger.release)';
comment on column core.census_figures.member_id is 'File member it was read from (ledger.member)';
comment on column core.census_figures.position is 'Row of the workbook or table; feature number, where the geometry says that nobody lives there';

create table section.demographics (
  fid int4 primary key,
  section_id text not null,
  parcel_share float8 not null
) partition by range (fid);
comment on table section.demographics is 'Census section that contains the representative point of each land parcel; roads and water have none. No row: the parcel lies in no section that is loaded';
comment on column section.demographics.fid is 'Parcel identifier';
comment on column section.demographics.section_id is 'SEZ21_ID of the section; its figures are in core.census_figures';
comment on column section.demographics.parcel_share is 'Area of the parcel divided by the area of all land parcels of the section, 0–1, 6 decimals';
