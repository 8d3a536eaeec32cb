-- purpose: values, JSON block and coverage of the section nightlights for one parcel, and its columns for many parcels
-- reads: core.parcel, section.nightlights
-- writes: api.values_nightlights, api.section_nightlights, api.coverage_nightlights, api.columns_nightlights
-- grain: one object per land parcel, null if no raster covers the parcel or a raster was missing; for columns one row per parcel
-- crs: EPSG:4326

create or replace function api.values_nightlights(p_row section.nightlights)
returns table (ntl_parcel numeric, ntl_mean_comune numeric, ntl_ratio numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).ntl_parcel::numeric, 2)),
    trim_scale(round((p_row).ntl_mean_comune::numeric, 2)),
    trim_scale(round((p_row).ntl_ratio::numeric, 2))
$$;
comment on function api.values_nightlights(section.nightlights) is 'Rounded values of the section nightlights: radiance and ratio with 2 decimals';

create or replace function api.section_nightlights(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found record;
  v_parcel core.parcel;
begin
  select
    n.ntl_class,
    n.ntl_year,
    n.unread,
    v.*
  into v_found
  from nightlights n
  cross join lateral api.values_nightlights(row(n.*)::section.nightlights) v
  where n.fid = p_fid;
  if v_found.ntl_parcel is not null then
    keys := array[
      'nightlights/' || v_found.ntl_year || case when v_found.ntl_mean_comune is not null then ' ' || '@' else '' end
    ];
    value := json_build_object(
      'available', true,
      'ntl_parcel', v_found.ntl_parcel,
      'ntl_mean_comune', v_found.ntl_mean_comune,
      'ntl_ratio', v_found.ntl_ratio,
      'ntl_class', v_found.ntl_class,
      'ntl_year', v_found.ntl_year,
      'source', null
    );
    linked := true;
  elsif v_found.unread is null then
    select *
    into v_parcel
    from parcel p
    where p.fid = p_fid;
    linked := api.raster_reaches('nightlights', core.region_of(p_fid), v_parcel.point, p_from);
    -- A raster covers the land parcel, but has no value there.
    if linked and v_parcel.kind = 'land' then
      keys := array['nightlights/none'];
      value := json_build_object('available', false, 'source', null);
    end if;
  end if;
end
$$;
comment on function api.section_nightlights(int4, anyelement) is 'Section nightlights as JSON. Member available is false if the raster has no value at the parcel. The result is null for roads and waters, if no raster covers the parcel, or if a raster was missing when the parcel was built. Result linked: true if a raster covers the parcel, false if none does, null if no raster is loaded or a raster was missing';

create or replace function api.coverage_nightlights(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_nightlights(int4, text, geometry, anyelement) is 'Returns as_found. The coverage is then mapped if a night-lights raster covers the parcel, and not_mapped if no loaded raster covers the parcel. The coverage is not_loaded if no raster is loaded, or if the raster was removed before the parcel was built';

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
