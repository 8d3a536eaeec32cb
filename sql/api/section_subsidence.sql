-- purpose: the section subsidence of one parcel
-- reads: section.subsidence
-- writes: api.section_subsidence
-- grain: one object, or null where no cell was measured
-- crs: none

create or replace function api.section_subsidence(p_fid int4) returns json
language plpgsql stable as $$
begin
  return (
    select json_build_object(
      'velocity_mm_year', trim_scale(round(s.velocity_mm_year::numeric, 2)),
      'acceleration_mm_year2', trim_scale(round(s.acceleration_mm_year2::numeric, 2)),
      'cells', s.cells,
      'risk_class', s.risk_class,
      'risk_label', s.risk_label,
      'trend', s.trend,
      'direction', s.direction,
      'source', api.section_source(p_fid, 'subsidence')
    )
    from section.subsidence s
    where s.fid = p_fid
  );
end
$$;
comment on function api.section_subsidence(int4) is 'Section subsidence as JSON: velocity mm/year and acceleration mm/year² with 2 decimals; null where no cell was measured';
