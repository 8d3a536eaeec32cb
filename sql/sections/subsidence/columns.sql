-- purpose: the section subsidence of many parcels as columns
-- reads: section.subsidence
-- writes: api.columns_subsidence
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_subsidence(p_fids int4[], p_from anyelement)
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
      v.velocity_mm_year,
      v.acceleration_mm_year2,
      s.cells,
      s.risk_class,
      s.risk_label,
      s.trend,
      s.direction
    )
  from subsidence s
  cross join lateral api.values_subsidence(row(s.*)::section.subsidence) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_subsidence(int4[], anyelement) is 'Section subsidence as columns, for the parcels that have a row, with the values of api.section_subsidence';
