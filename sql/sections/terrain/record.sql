-- purpose: values, JSON block and coverage of the section terrain for one parcel, and its columns for many parcels
-- reads: core.parcel, core.raster_tile, section.terrain
-- writes: api.values_terrain, api.terrain_reached, api.section_terrain, api.coverage_terrain, api.columns_terrain
-- grain: one object per parcel, null if no elevation is known; for columns one row per parcel
-- crs: EPSG:4326

create or replace function api.values_terrain(p_row section.terrain)
returns table (
  elevation_min numeric,
  elevation_max numeric,
  elevation_mean numeric,
  elevation_std numeric,
  slope_mean numeric,
  slope_max numeric,
  ruggedness_index numeric,
  tri_mean numeric
)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).elevation_min_m::numeric, 1)),
    trim_scale(round((p_row).elevation_max_m::numeric, 1)),
    trim_scale(round((p_row).elevation_mean_m::numeric, 1)),
    trim_scale(round((p_row).elevation_std_m::numeric, 1)),
    trim_scale(round((p_row).slope_mean_deg::numeric, 1)),
    trim_scale(round((p_row).slope_max_deg::numeric, 1)),
    trim_scale(round((p_row).ruggedness_index_m::numeric, 2)),
    trim_scale(round((p_row).tri_mean_m::numeric, 2))
$$;
comment on function api.values_terrain(section.terrain) is 'Rounded values of the section terrain: metres and degrees with 1 decimal, and ruggedness with 2 decimals';

create or replace function api.terrain_reached(p_kind text, p_reached bool) returns bool
language sql immutable parallel safe as $$
  -- A land parcel without an elevation is not covered, even inside a raster. A road or water has no elevation, so its coverage is that of the rasters.
  select case when p_kind = 'land' then nullif(p_reached is null, true) else p_reached end
$$;
comment on function api.terrain_reached(text, bool) is 'Coverage of a parcel without an elevation: false for a land parcel, p_reached for a road or water, null if no raster is loaded. Argument p_reached is the result of api.raster_reaches for the parcel';

create or replace function api.section_terrain(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found record;
  v_parcel core.parcel;
begin
  select
    t.cells,
    t.source_id,
    t.aspect_predominant,
    t.unread,
    v.*
  into v_found
  from terrain t
  cross join lateral api.values_terrain(row(t.*)::section.terrain) v
  where t.fid = p_fid;
  if v_found.cells is not null then
    keys := array['terrain/' || v_found.source_id];
    value := json_build_object(
      'elevation_min', v_found.elevation_min,
      'elevation_max', v_found.elevation_max,
      'elevation_mean', v_found.elevation_mean,
      'elevation_std', v_found.elevation_std,
      'slope_mean', v_found.slope_mean,
      'slope_max', v_found.slope_max,
      'ruggedness_index', v_found.ruggedness_index,
      'tri_mean', v_found.tri_mean,
      'aspect_predominant', v_found.aspect_predominant,
      'cells', v_found.cells,
      'elevation_of', (
        select t.elevation_of
        from raster_tile t
        where t.region_code = core.region_of(p_fid)
          and t.section = 'terrain'
          and t.source_id = v_found.source_id
        limit 1
      ),
      'source', null
    );
    linked := true;
  elsif v_found.unread is null then
    -- The parcel is read in a separate statement, because parcels and rasters may be on different nodes.
    select *
    into v_parcel
    from parcel p
    where p.fid = p_fid;
    linked := api.terrain_reached(v_parcel.kind, api.raster_reaches('terrain', core.region_of(p_fid), v_parcel.point, p_from));
  end if;
end
$$;
comment on function api.section_terrain(int4, anyelement) is 'Section terrain as JSON. Null if no elevation model has a value at the parcel';

create or replace function api.coverage_terrain(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_terrain(int4, text, geometry, anyelement) is 'Returns as_found. The coverage is then mapped if an elevation model has a value at the parcel, and not_mapped if no loaded model has a value there. The coverage is not_loaded if no model is loaded, or if the model was removed before the parcel was built';

create or replace function api.columns_terrain(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      p.fid,
      p.kind,
      p.point
    from parcel p
    where p.fid = any (p_fids)
  ),
  swept as materialized (
    select
      s.fid,
      s.cells,
      s.source_id,
      s.aspect_predominant,
      s.unread,
      v.*
    from terrain s
    cross join lateral api.values_terrain(row(s.*)::section.terrain) v
    where s.fid = any (p_fids)
  ),
  model as materialized (
    select
      t.region_code,
      t.source_id,
      min(t.elevation_of) as elevation_of
    from raster_tile t
    where t.section = 'terrain'
      and t.region_code in (select core.region_of(p.fid) from asked p)
    group by t.region_code, t.source_id
  )
  select
    p.fid,
    case
      when s.cells is not null then true
      when s.unread is not null then null
      else api.terrain_reached(p.kind, api.raster_reaches('terrain', core.region_of(p.fid), p.point, p_from))
    end,
    s.cells is not null,
    case
      when s.cells is not null then json_build_array(
        s.elevation_min,
        s.elevation_max,
        s.elevation_mean,
        s.elevation_std,
        s.slope_mean,
        s.slope_max,
        s.ruggedness_index,
        s.tri_mean,
        s.aspect_predominant,
        s.cells,
        o.elevation_of
      )
    end
  from asked p
  left join swept s on s.fid = p.fid
  left join model o on o.region_code = core.region_of(p.fid)
    and o.source_id = s.source_id;
end
$$;
comment on function api.columns_terrain(int4[], anyelement) is 'Section terrain as columns, with the values and the coverage (linked) of api.section_terrain';
