-- purpose: the section subsidence of many parcels, a row of columns each
-- reads: section.subsidence
-- writes: api.columns_subsidence
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_subsidence(p_fids int4[])
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
      trim_scale(round(s.velocity_mm_year::numeric, 2)),
      trim_scale(round(s.acceleration_mm_year2::numeric, 2)),
      s.cells,
      s.risk_class,
      s.risk_label,
      s.trend,
      s.direction
    )
  from section.subsidence s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_subsidence(int4[]) is 'Section subsidence as columns, of the parcels that have it; values as api.section_subsidence shows them';
