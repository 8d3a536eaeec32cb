-- purpose: the section coastal_erosion of many parcels, a row of columns each
-- reads: section.coastal_erosion
-- writes: api.columns_coastal_erosion
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_coastal_erosion(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    nullif(bool_or(s.may_be_cut), false),
    true,
    json_build_array(
      count(*),
      (array_agg(s.dynamic order by s.ordinal))[1],
      (array_agg(trim_scale(round(s.avg_change_m_year::numeric, 2)) order by s.ordinal))[1],
      (array_agg(s.severity_index order by s.ordinal))[1],
      (array_agg(trim_scale(round(s.distance_m::numeric, 2)) order by s.ordinal))[1]
    )
  from section.coastal_erosion s
  where s.fid = any (p_fids)
  group by s.fid;
end
$$;
comment on function api.columns_coastal_erosion(int4[]) is 'Section coastal_erosion as columns, of the parcels that have it: how many segments are near, and the nearest';
