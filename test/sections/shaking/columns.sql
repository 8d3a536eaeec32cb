-- purpose: the section shaking of many parcels, one row of columns each
-- reads: section.shaking
-- writes: api.columns_shaking
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_shaking(p_fids int4[], p_from anyelement)
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
      v.ag_min,
      v.ag_max,
      s.corners
    )
  from shaking s
  cross join lateral api.values_shaking(row(s.*)::section.shaking) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_shaking(int4[], anyelement) is 'Section shaking as columns, of the parcels that have a row, with the values of api.section_shaking';
