-- purpose: the section demographics of many parcels as columns
-- reads: section.demographics, core.census_figures
-- writes: api.columns_demographics
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_demographics(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with place as materialized (
    select
      s.fid,
      core.region_of(s.fid) as region_code,
      s.section_id,
      v.parcel_share
    from demographics s
    cross join lateral api.values_demographics(row(s.*)::section.demographics) v
    where s.fid = any (p_fids)
  )
  select
    d.fid,
    f.section_id is not null,
    f.section_id is not null,
    case
      when f.section_id is not null then json_build_array(
        f.population_total,
        f.male,
        f.female,
        f.age_0_4,
        f.age_5_9,
        f.age_10_14,
        f.age_15_19,
        f.age_20_24,
        f.age_25_29,
        f.age_30_34,
        f.age_35_39,
        f.age_40_44,
        f.age_45_49,
        f.age_50_54,
        f.age_55_59,
        f.age_60_64,
        f.age_65_69,
        f.age_70_74,
        f.age_75_plus,
        f.education_no_title,
        f.education_elementary,
        f.education_middle_school,
        f.education_high_school,
        f.education_university,
        f.employed,
        f.foreigners,
        f.foreigners_eu,
        f.foreigners_non_eu,
        f.households,
        f.households_1_member,
        f.households_2_members,
        f.households_3_members,
        f.households_4_members,
        f.households_5_members,
        f.households_6_plus_members,
        f.dwellings_occupied,
        d.section_id,
        d.parcel_share
      )
    end
  from place d
  left join census_figures f
    on f.region_code = d.region_code
    and f.section_id = d.section_id;
end
$$;
comment on function api.columns_demographics(int4[], anyelement) is 'Section demographics as columns, for the parcels in a census section. Values are for the complete census section. Column linked: as result linked of api.section_demographics';
