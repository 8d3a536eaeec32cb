-- purpose: the section land_cover of many parcels as columns
-- reads: section.land_cover
-- writes: api.columns_land_cover
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_land_cover(p_fids int4[], p_from anyelement)
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
      v.class,
      v.subclass,
      s.description,
      v.share
    )
  from land_cover s
  cross join lateral api.values_land_cover(row(s.*)::section.land_cover) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_cover(int4[], anyelement) is 'Section land_cover as columns, for the parcels that have a row, with the values of api.section_land_cover';
