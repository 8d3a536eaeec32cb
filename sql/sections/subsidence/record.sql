-- purpose: the section subsidence of one parcel, and whether its source covers the place
-- reads: section.subsidence, core.motion_tile
-- writes: api.section_subsidence, api.coverage_subsidence
-- grain: one object, or null where no cell was measured; one word
-- crs: tiles are squares of EPSG:3035

create or replace function api.section_subsidence(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.subsidence;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.subsidence s
  where s.fid = p_fid;
  if v_found.fid is not null then
    keys := array['subsidence/' || p_fid];
    value := json_build_object(
      'velocity_mm_year', trim_scale(round(v_found.velocity_mm_year::numeric, 2)),
      'acceleration_mm_year2', trim_scale(round(v_found.acceleration_mm_year2::numeric, 2)),
      'cells', v_found.cells,
      'risk_class', v_found.risk_class,
      'risk_label', v_found.risk_label,
      'trend', v_found.trend,
      'direction', v_found.direction,
      'source', null
    );
  end if;
end
$$;
comment on function api.section_subsidence(int4) is 'Section subsidence as JSON: velocity mm/year and acceleration mm/year² with 2 decimals; null where no cell was measured';

create or replace function api.coverage_subsidence(p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
declare
  v_point constant geometry := st_transform(p_point, 3035);
begin
  return (
    select case
      when bool_or(t.tile_x = floor(st_x(v_point) / 100000) and t.tile_y = floor(st_y(v_point) / 100000)) then 'mapped'
      when count(*) > 0 then 'not_mapped'
      else 'not_loaded'
    end
    from core.motion_tile t
    where t.region_code = p_region
  );
end
$$;
comment on function api.coverage_subsidence(int4, text, geometry) is 'mapped: the representative point (EPSG:4326) lies in a tile that is loaded, so that no section means no measured cell; not_mapped: in none of those loaded; not_loaded: none is';
