-- purpose: the section terrain of one parcel, and whether its sources cover the place
-- reads: core.parcel, core.raster_tile, section.terrain
-- writes: api.section_terrain, api.coverage_terrain
-- grain: one object, or null where no elevation is known; one word
-- crs: EPSG:4326

create or replace function api.section_terrain(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.terrain;
  v_parcel core.parcel;
begin
  select *
  into v_found
  from section.terrain t
  where t.fid = p_fid;
  if v_found.cells is not null then
    keys := array['terrain/' || v_found.source_id];
    value := json_build_object(
      'elevation_min', trim_scale(round(v_found.elevation_min_m::numeric, 1)),
      'elevation_max', trim_scale(round(v_found.elevation_max_m::numeric, 1)),
      'elevation_mean', trim_scale(round(v_found.elevation_mean_m::numeric, 1)),
      'elevation_std', trim_scale(round(v_found.elevation_std_m::numeric, 1)),
      'slope_mean', trim_scale(round(v_found.slope_mean_deg::numeric, 1)),
      'slope_max', trim_scale(round(v_found.slope_max_deg::numeric, 1)),
      'ruggedness_index', trim_scale(round(v_found.ruggedness_index_m::numeric, 2)),
      'tri_mean', trim_scale(round(v_found.tri_mean_m::numeric, 2)),
      'aspect_predominant', v_found.aspect_predominant,
      'cells', v_found.cells,
      'elevation_of', (
        select t.elevation_of
        from core.raster_tile t
        where t.region_code = core.region_of(p_fid)
          and t.section = 'terrain'
          and t.source_id = v_found.source_id
        limit 1
      ),
      'source', null
    );
    linked := true;
  elsif v_found.unread is null then
    -- Land that lies in a raster without an elevation is not mapped; roads and water have no such section anywhere.
    -- The parcel is read first: where parcels lie on other nodes, what is known of rasters lies here.
    select *
    into v_parcel
    from core.parcel p
    where p.fid = p_fid;
    linked := api.raster_reaches('terrain', core.region_of(p_fid), v_parcel.point);
    if v_parcel.kind = 'land' then
      linked := nullif(linked is null, true);
    end if;
  end if;
end
$$;
comment on function api.section_terrain(int4) is 'Section terrain as JSON: metres and degrees with 1 decimal, ruggedness with 2; null where no model has an elevation';

create or replace function api.coverage_terrain(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_terrain(int4, text, geometry) is 'as_found: mapped where a model has an elevation; not_mapped where none of those loaded has; not_loaded where none is, or its file had left before the parcel came';
