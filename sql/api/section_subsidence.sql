-- purpose: the section subsidence of one parcel, and whether its source covers the place
-- reads: section.subsidence, core.motion_tile, core.parcel
-- writes: api.section_subsidence, api.coverage_subsidence
-- grain: one object, or null where no cell was measured; one word
-- crs: tiles are squares of EPSG:3035

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

create or replace function api.coverage_subsidence(p_fid int4) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when not exists (select from core.motion_tile t where t.region_code = p_fid / 100000000) then 'not_loaded'
      when exists (
        select
        from (
          select st_transform(p.point, 3035) as point
          from core.parcel p
          where p.fid = p_fid
          -- offset 0: transformed once.
          offset 0
        ) as place
        join core.motion_tile t
          on t.tile_x = floor(st_x(place.point) / 100000)
          and t.tile_y = floor(st_y(place.point) / 100000)
        where t.region_code = p_fid / 100000000
      ) then 'mapped'
      else 'not_mapped'
    end
  );
end
$$;
comment on function api.coverage_subsidence(int4) is 'mapped: the representative point lies in a tile that is loaded, so that no section means no measured cell; not_mapped: in none of those loaded; not_loaded: none is';
