-- purpose: values, JSON block and coverage of the section demographics for one parcel, and its columns for many parcels
-- reads: section.demographics, core.census_figures
-- writes: api.values_demographics, api.section_demographics, api.coverage_demographics, api.columns_demographics
-- grain: one object per parcel, null if the parcel's census section has no statistics; for columns one row per parcel
-- crs: none

create or replace function api.values_demographics(p_row section.demographics)
returns table (parcel_share numeric)
language sql immutable parallel safe as $$
  select trim_scale(round((p_row).parcel_share::numeric, 6))
$$;
comment on function api.values_demographics(section.demographics) is 'Share of the parcel in the land area of its census section, rounded to 6 decimals';

create or replace function api.section_demographics(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    case
      when f.section_id is not null then json_build_object(
        'population_total', f.population_total,
        'male', f.male,
        'female', f.female,
        'age_brackets', json_build_object(
          '0_4', f.age_0_4,
          '5_9', f.age_5_9,
          '10_14', f.age_10_14,
          '15_19', f.age_15_19,
          '20_24', f.age_20_24,
          '25_29', f.age_25_29,
          '30_34', f.age_30_34,
          '35_39', f.age_35_39,
          '40_44', f.age_40_44,
          '45_49', f.age_45_49,
          '50_54', f.age_50_54,
          '55_59', f.age_55_59,
          '60_64', f.age_60_64,
          '65_69', f.age_65_69,
          '70_74', f.age_70_74,
          '75_plus', f.age_75_plus
        ),
        'education', json_build_object(
          'no_title', f.education_no_title,
          'elementary', f.education_elementary,
          'middle_school', f.education_middle_school,
          'high_school', f.education_high_school,
          'university', f.education_university
        ),
        'employed', f.employed,
        'foreigners', json_build_object(
          'total', f.foreigners,
          'eu', f.foreigners_eu,
          'non_eu', f.foreigners_non_eu
        ),
        'households', json_build_object(
          'total', f.households,
          '1_member', f.households_1_member,
          '2_members', f.households_2_members,
          '3_members', f.households_3_members,
          '4_members', f.households_4_members,
          '5_members', f.households_5_members,
          '6_plus_members', f.households_6_plus_members
        ),
        'dwellings', f.dwellings_occupied,
        'section_id', d.section_id,
        'parcel_share', v.parcel_share,
        'source', null
      )
    end,
    f.section_id is not null,
    array['demographics/' || left(d.section_id, -7)]
  into value, linked, keys
  from demographics d
  cross join lateral api.values_demographics(row(d.*)::section.demographics) v
  left join census_figures f
    on f.region_code = core.region_of(d.fid)
    and f.section_id = d.section_id
  where d.fid = p_fid;
end
$$;
comment on function api.section_demographics(int4, anyelement) is 'Section demographics as JSON: statistics of the complete census section, and the parcel''s share (0–1) of the total area of the section''s land parcels. The result is null if the census section has no statistics. Result linked: true if the census section has statistics, false if it has none, null if the parcel is in no census section';

create or replace function api.coverage_demographics(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'if_found'
$$;
comment on function api.coverage_demographics(int4, text, geometry, anyelement) is 'Returns if_found. The coverage is then mapped if the statistics of the parcel''s census section are known, else not_mapped. The coverage is not_loaded if no census is loaded';

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
comment on function api.columns_demographics(int4[], anyelement) is 'Section demographics as columns, for the parcels in a census section. Values are for the complete census section. Column linked: the same as result linked of api.section_demographics';
