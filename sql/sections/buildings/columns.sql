-- purpose: the section buildings of many parcels, a row of columns each
-- reads: section.buildings
-- writes: api.columns_buildings
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_buildings(p_fids int4[])
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
      trim_scale(round(s.footprint_m2::numeric, 2)),
      s.residential_count,
      trim_scale(round(s.residential_footprint_m2::numeric, 2)),
      trim_scale(round(s.built_share::numeric, 6))
    )
  from section.buildings s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_buildings(int4[]) is 'Section buildings as columns, of the parcels that have it; values as api.section_buildings shows them';
