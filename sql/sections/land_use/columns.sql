-- purpose: the section land_use of many parcels as columns
-- reads: section.land_use
-- writes: api.columns_land_use
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_land_use(p_fids int4[], p_from anyelement)
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
      v.level1,
      v.level2,
      v.share
    )
  from land_use s
  cross join lateral api.values_land_use(row(s.*)::section.land_use) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_use(int4[], anyelement) is 'Section land_use as columns, for the parcels that have a row, with the values of api.section_land_use';
