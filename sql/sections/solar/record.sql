-- purpose: values, JSON block and coverage of the section solar for one parcel, and its columns for many parcels
-- reads: core.parcel, section.buildings, section.solar
-- writes: api.values_solar, api.section_solar, api.coverage_solar, api.columns_solar
-- grain: one object per parcel, null if the parcel is a road or water, or if no source of buildings covers it; for columns one row per parcel
-- crs: EPSG:4326

create or replace function api.values_solar(p_row section.solar)
returns table (
  roof_area_m2 numeric,
  kwp_max_total numeric,
  pvout_kwh_per_kwp numeric,
  pvout_kwh_year_total numeric
)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).roof_area_m2::numeric, 2)),
    trim_scale(round((p_row).kwp_max_total::numeric, 2)),
    trim_scale(round((p_row).pvout_kwh_per_kwp::numeric, 0)),
    trim_scale(round((p_row).pvout_kwh_year_total::numeric, 0))
$$;
comment on function api.values_solar(section.solar) is 'Rounded values of the section solar: m² and kW with 2 decimals, kWh as integers';

create or replace function api.section_solar(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found record;
  v_parcel core.parcel;
  v_buildings record;
  v_coverage text := 'mapped';
begin
  select
    s.fid,
    s.n_buildings,
    s.viability_class,
    s.unread,
    v.*
  into v_found
  from solar s
  cross join lateral api.values_solar(row(s.*)::section.solar) v
  where s.fid = p_fid;
  if v_found.fid is not null then
    keys := array['solar/@' || case when v_found.pvout_kwh_per_kwp is null then ' roof' else ' yield' end];
    value := json_build_object(
      'available', true,
      'n_buildings', v_found.n_buildings,
      'roof_area_m2', v_found.roof_area_m2,
      'kwp_max_total', v_found.kwp_max_total,
      'pvout_kwh_per_kwp', v_found.pvout_kwh_per_kwp,
      'pvout_kwh_year_total', v_found.pvout_kwh_year_total,
      'viability_class', v_found.viability_class,
      'methodology_version', '1',
      'source', null
    );
    if v_found.unread then
      return;
    end if;
    if v_found.pvout_kwh_per_kwp is not null then
      linked := true;
      return;
    end if;
  end if;
  select *
  into v_parcel
  from parcel p
  where p.fid = p_fid;
  if v_found.fid is null then
    -- A parcel without known buildings is reported as having no roofs only if a source of buildings covers the comune.
    v_buildings := api.section_buildings(p_fid, p_from);
    v_coverage := api.section_coverage(
      core.region_of(p_fid), v_parcel.belfiore, v_parcel.point, null, 'buildings', v_buildings.linked, v_buildings.value::text not in ('null', '[]'), p_from
    );
    if v_coverage = 'mapped' and v_parcel.kind = 'land' then
      keys := array['solar/@ roof'];
      value := json_build_object('available', false, 'source', null);
    end if;
  end if;
  linked := case v_coverage when 'mapped' then api.raster_reaches('solar', core.region_of(p_fid), v_parcel.point, p_from) when 'not_mapped' then false end;
end
$$;
comment on function api.section_solar(int4, anyelement) is 'Section solar as JSON. Null if the parcel is a road or water, or if no source of buildings covers the parcel';

create or replace function api.coverage_solar(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_solar(int4, text, geometry, anyelement) is 'Returns as_found. The coverage is then mapped if a source of buildings and a yield raster cover the parcel, and not_mapped if one of them does not. The coverage is not_loaded if buildings or rasters are not loaded, or if the raster was removed before the parcel was built';

create or replace function api.columns_solar(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      p.fid,
      core.region_of(p.fid) as region_code,
      p.belfiore,
      p.kind,
      p.point
    from parcel p
    where p.fid = any (p_fids)
  ),
  roofed as materialized (
    select
      s.fid,
      s.n_buildings,
      s.viability_class,
      s.unread,
      v.*
    from solar s
    cross join lateral api.values_solar(row(s.*)::section.solar) v
    where s.fid = any (p_fids)
  ),
  built as materialized (
    select b.fid
    from buildings b
    where b.fid = any (p_fids)
  ),
  -- A parcel without known buildings is reported as having no roofs only if a source of buildings covers the comune.
  place as materialized (
    select
      c.region_code,
      c.belfiore,
      c.is_built,
      api.section_coverage(c.region_code, c.belfiore, null, null, 'buildings', null, c.is_built, p_from) as coverage
    from (
      select distinct
        p.region_code,
        p.belfiore,
        b.fid is not null as is_built
      from asked p
      left join built b on b.fid = p.fid
    ) c
  ),
  known as materialized (
    select
      p.fid,
      p.kind,
      case when s.fid is null then c.coverage else 'mapped' end as coverage,
      case
        when s.unread then null
        when s.pvout_kwh_per_kwp is not null then true
        when s.fid is not null or c.coverage = 'mapped' then api.raster_reaches('solar', p.region_code, p.point, p_from)
        when c.coverage = 'not_mapped' then false
      end as linked,
      s.fid is not null as is_roofed,
      s.n_buildings,
      s.roof_area_m2,
      s.kwp_max_total,
      s.pvout_kwh_per_kwp,
      s.pvout_kwh_year_total,
      s.viability_class
    from asked p
    left join roofed s on s.fid = p.fid
    left join built b on b.fid = p.fid
    join place c
      on c.region_code = p.region_code
      and c.belfiore = p.belfiore
      and c.is_built = (b.fid is not null)
  )
  select
    t.fid,
    t.linked,
    t.is_roofed or (t.coverage = 'mapped' and t.kind = 'land'),
    case
      when t.is_roofed then json_build_array(
        true,
        t.n_buildings,
        t.roof_area_m2,
        t.kwp_max_total,
        t.pvout_kwh_per_kwp,
        t.pvout_kwh_year_total,
        t.viability_class
      )
      when t.coverage = 'mapped' and t.kind = 'land' then json_build_array(false, null, null, null, null, null, null)
    end
  from known t;
end
$$;
comment on function api.columns_solar(int4[], anyelement) is 'Section solar as columns, with the values and the coverage (linked) of api.section_solar';
