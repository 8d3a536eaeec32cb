-- purpose: the section terrain of many parcels as columns
-- reads: core.parcel, core.raster_tile, section.terrain
-- writes: api.columns_terrain
-- grain: one row per parcel
-- crs: EPSG:4326

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
