-- purpose: the section land_use of many parcels, a row of columns each
-- reads: section.land_use
-- writes: api.columns_land_use
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_land_use(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    true,
    true,
    json_build_array(
      s.code,
      s.class,
      left(s.code, 1),
      left(s.code, 2),
      trim_scale(round(s.share::numeric, 6))
    )
  from section.land_use s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_use(int4[]) is 'Section land_use as columns, of the parcels that have it; values and linked as api.section_land_use gives them';
