-- purpose: the section terrain of many parcels, a row of columns each
-- reads: core.parcel, core.raster_tile, section.terrain
-- writes: api.columns_terrain
-- grain: one row per parcel
-- crs: EPSG:4326

create or replace function api.columns_terrain(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with parcel as materialized (
    select
      p.fid,
      p.kind,
      p.point
    from core.parcel p
    where p.fid = any (p_fids)
  ),
  swept as materialized (
    select s.*
    from section.terrain s
    where s.fid = any (p_fids)
  ),
  model as materialized (
    select
      t.region_code,
      t.source_id,
      min(t.elevation_of) as elevation_of
    from core.raster_tile t
    where t.section = 'terrain'
      and t.region_code in (select core.region_of(p.fid) from parcel p)
    group by t.region_code, t.source_id
  )
  -- Land that lies in a raster without an elevation is not mapped; roads and water have no such section anywhere.
  select
    p.fid,
    case
      when s.cells is not null then true
      when s.unread is not null then null
      when p.kind = 'land' then nullif(api.raster_reaches('terrain', core.region_of(p.fid), p.point) is null, true)
      else api.raster_reaches('terrain', core.region_of(p.fid), p.point)
    end,
    s.cells is not null,
    case
      when s.cells is not null then json_build_array(
        trim_scale(round(s.elevation_min_m::numeric, 1)),
        trim_scale(round(s.elevation_max_m::numeric, 1)),
        trim_scale(round(s.elevation_mean_m::numeric, 1)),
        trim_scale(round(s.elevation_std_m::numeric, 1)),
        trim_scale(round(s.slope_mean_deg::numeric, 1)),
        trim_scale(round(s.slope_max_deg::numeric, 1)),
        trim_scale(round(s.ruggedness_index_m::numeric, 2)),
        trim_scale(round(s.tri_mean_m::numeric, 2)),
        s.aspect_predominant,
        s.cells,
        o.elevation_of
      )
    end
  from parcel p
  left join swept s on s.fid = p.fid
  left join model o on o.region_code = core.region_of(p.fid)
    and o.source_id = s.source_id;
end
$$;
comment on function api.columns_terrain(int4[]) is 'Section terrain as columns; values and linked as api.section_terrain gives them';
