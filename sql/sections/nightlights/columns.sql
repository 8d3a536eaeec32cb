-- purpose: the section nightlights of many parcels, a row of columns each
-- reads: core.parcel, section.nightlights
-- writes: api.columns_nightlights
-- grain: one row per parcel
-- crs: EPSG:4326

create or replace function api.columns_nightlights(p_fids int4[])
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
    from section.nightlights s
    where s.fid = any (p_fids)
  ),
  told as materialized (
    select
      p.fid,
      p.kind,
      s.ntl_parcel,
      s.ntl_mean_comune,
      s.ntl_ratio,
      s.ntl_class,
      s.ntl_year,
      case
        when s.ntl_parcel is not null then true
        when s.unread is null then api.raster_reaches('nightlights', core.region_of(p.fid), p.point)
      end as linked
    from parcel p
    left join swept s on s.fid = p.fid
  )
  select
    t.fid,
    t.linked,
    t.ntl_parcel is not null or coalesce(t.linked and t.kind = 'land', false),
    case
      when t.ntl_parcel is not null then json_build_array(
        true,
        trim_scale(round(t.ntl_parcel::numeric, 2)),
        trim_scale(round(t.ntl_mean_comune::numeric, 2)),
        trim_scale(round(t.ntl_ratio::numeric, 2)),
        t.ntl_class,
        t.ntl_year
      )
      -- Within a raster that says nothing there.
      when t.linked and t.kind = 'land' then json_build_array(false, null, null, null, null, null)
    end
  from told t;
end
$$;
comment on function api.columns_nightlights(int4[]) is 'Section nightlights as columns; values and linked as api.section_nightlights gives them';
