-- purpose: the section nightlights of many parcels as columns
-- reads: core.parcel, section.nightlights
-- writes: api.columns_nightlights
-- grain: one row per parcel
-- crs: EPSG:4326

create or replace function api.columns_nightlights(p_fids int4[], p_from anyelement)
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
      s.ntl_class,
      s.ntl_year,
      s.unread,
      v.*
    from nightlights s
    cross join lateral api.values_nightlights(row(s.*)::section.nightlights) v
    where s.fid = any (p_fids)
  ),
  known as materialized (
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
        when s.unread is null then api.raster_reaches('nightlights', core.region_of(p.fid), p.point, p_from)
      end as linked
    from asked p
    left join swept s on s.fid = p.fid
  )
  select
    t.fid,
    t.linked,
    t.ntl_parcel is not null or coalesce(t.linked and t.kind = 'land', false),
    case
      when t.ntl_parcel is not null then json_build_array(
        true,
        t.ntl_parcel,
        t.ntl_mean_comune,
        t.ntl_ratio,
        t.ntl_class,
        t.ntl_year
      )
      -- A raster covers the land parcel, but has no value there.
      when t.linked and t.kind = 'land' then json_build_array(false, null, null, null, null, null)
    end
  from known t;
end
$$;
comment on function api.columns_nightlights(int4[], anyelement) is 'Section nightlights as columns, with the values and the coverage (linked) of api.section_nightlights';
