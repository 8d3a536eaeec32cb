-- purpose: the section shaking of many parcels, one row of columns each
-- reads: section.shaking
-- writes: api.columns_shaking
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_shaking(p_fids int4[])
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
      trim_scale(round(s.ag_min_g::numeric, 4)),
      trim_scale(round(s.ag_max_g::numeric, 4)),
      s.corners
    )
  from section.shaking s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_shaking(int4[]) is 'Section shaking as columns, of the parcels that have it; values as api.section_shaking shows them';
