-- purpose: the section coastal_erosion of many parcels as columns
-- reads: section.coastal_erosion
-- writes: api.columns_coastal_erosion
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_coastal_erosion(p_fids int4[], p_from anyelement)
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
      (array_agg(v.avg_change_m_year order by s.ordinal))[1],
      (array_agg(s.severity_index order by s.ordinal))[1],
      (array_agg(v.distance_m order by s.ordinal))[1]
    )
  from coastal_erosion s
  cross join lateral api.values_coastal_erosion(row(s.*)::section.coastal_erosion) v
  where s.fid = any (p_fids)
  group by s.fid;
end
$$;
comment on function api.columns_coastal_erosion(int4[], anyelement) is 'Section coastal_erosion as columns, for the parcels that have segments within 1,000 m: the number of these segments, and the nearest segment';
