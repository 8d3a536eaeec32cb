-- purpose: the section land_cover of many parcels, a row of columns each
-- reads: section.land_cover
-- writes: api.columns_land_cover
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_land_cover(p_fids int4[])
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
      s.code,
      left(s.code, 1),
      left(s.code, 2),
      s.description,
      trim_scale(round(s.share::numeric, 6))
    )
  from section.land_cover s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_cover(int4[]) is 'Section land_cover as columns, of the parcels that have it; values as api.section_land_cover shows them';
