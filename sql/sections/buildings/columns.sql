-- purpose: the section buildings of many parcels as columns
-- reads: section.buildings
-- writes: api.columns_buildings
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_buildings(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    null::bool,
    true,
    json_build_array(
      s.count,
      v.footprint_m2,
      s.residential_count,
      v.residential_footprint_m2,
      v.built_share
    )
  from buildings s
  cross join lateral api.values_buildings(row(s.*)::section.buildings) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_buildings(int4[], anyelement) is 'Section buildings as columns, for the parcels that have a row, with the values of api.section_buildings';
