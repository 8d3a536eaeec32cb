-- purpose: values, JSON block and coverage of the section solar for one parcel
-- reads: core.parcel, section.solar
-- writes: api.values_solar, api.section_solar, api.coverage_solar
-- grain: one object per parcel, null if no source of buildings covers the parcel
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
    -- A parcel without buildings has no roofs only if a source of buildings covers the parcel.
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
comment on function api.section_solar(int4, anyelement) is 'Section solar as JSON. Null if no source of buildings covers the parcel';

create or replace function api.coverage_solar(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_solar(int4, text, geometry, anyelement) is 'Returns as_found. The coverage is then mapped if a source of buildings and a yield raster cover the parcel, and not_mapped if one of them does not. The coverage is not_loaded if buildings or rasters are not loaded, or if the raster was removed before the parcel was built';
