-- purpose: values, JSON block and coverage of the section subsidence for one parcel, and its columns for many parcels
-- reads: section.subsidence, core.motion_tile
-- writes: api.values_subsidence, api.section_subsidence, api.coverage_subsidence, api.columns_subsidence
-- grain: one object per parcel, null if no cell on the parcel was measured; for columns one row per parcel with a measured cell
-- crs: tiles are squares of EPSG:3035

create or replace function api.values_subsidence(p_row section.subsidence)
returns table (velocity_mm_year numeric, acceleration_mm_year2 numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).velocity_mm_year::numeric, 2)),
    trim_scale(round((p_row).acceleration_mm_year2::numeric, 2))
$$;
comment on function api.values_subsidence(section.subsidence) is 'Rounded values of the section subsidence: mm/year and mm/year² with 2 decimals';

create or replace function api.section_subsidence(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'velocity_mm_year', v.velocity_mm_year,
      'acceleration_mm_year2', v.acceleration_mm_year2,
      'cells', s.cells,
      'risk_class', s.risk_class,
      'risk_label', s.risk_label,
      'trend', s.trend,
      'direction', s.direction,
      'source', null
    ),
    array['subsidence/' || p_fid]
  into value, keys
  from subsidence s
  cross join lateral api.values_subsidence(row(s.*)::section.subsidence) v
  where s.fid = p_fid;
end
$$;
comment on function api.section_subsidence(int4, anyelement) is 'Section subsidence as JSON: velocity in mm/year and acceleration in mm/year². Null if no cell on the parcel was measured';

create or replace function api.coverage_subsidence(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
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
    from motion_tile t
    where t.region_code = p_region
  );
end
$$;
comment on function api.coverage_subsidence(int4, text, geometry, anyelement) is 'Coverage of a parcel by ground-motion tiles. Value mapped: the representative point (EPSG:4326) is inside a loaded tile, so an empty section means that no cell was measured. Value not_mapped: the point is in no loaded tile. Value not_loaded: no tile is loaded';

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
