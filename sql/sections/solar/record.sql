-- purpose: the section solar of one parcel, and whether its sources cover the place
-- reads: core.parcel, section.solar
-- writes: api.section_solar, api.coverage_solar
-- grain: one object, or null where nobody knows of buildings; one word
-- crs: EPSG:4326

create or replace function api.section_solar(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.solar;
  v_parcel core.parcel;
  v_buildings record;
  v_coverage text := 'mapped';
begin
  select *
  into v_found
  from section.solar s
  where s.fid = p_fid;
  if v_found.fid is not null then
    keys := array['solar/@' || case when v_found.pvout_kwh_per_kwp is null then ' roof' else ' yield' end];
    value := json_build_object(
      'available', true,
      'n_buildings', v_found.n_buildings,
      'roof_area_m2', trim_scale(round(v_found.roof_area_m2::numeric, 2)),
      'kwp_max_total', trim_scale(round(v_found.kwp_max_total::numeric, 2)),
      'pvout_kwh_per_kwp', trim_scale(round(v_found.pvout_kwh_per_kwp::numeric, 0)),
      'pvout_kwh_year_total', trim_scale(round(v_found.pvout_kwh_year_total::numeric, 0)),
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
  from core.parcel p
  where p.fid = p_fid;
  if v_found.fid is null then
    -- That there are no roofs is known where a source of buildings reaches.
    v_buildings := api.section_buildings(p_fid);
    v_coverage := api.section_coverage(
      core.region_of(p_fid), v_parcel.belfiore, v_parcel.point, null, 'buildings', v_buildings.linked, v_buildings.value::text not in ('null', '[]')
    );
    if v_coverage = 'mapped' and v_parcel.kind = 'land' then
      keys := array['solar/@ roof'];
      value := json_build_object('available', false, 'source', null);
    end if;
  end if;
  linked := case v_coverage when 'mapped' then api.raster_reaches('solar', core.region_of(p_fid), v_parcel.point) when 'not_mapped' then false end;
end
$$;
comment on function api.section_solar(int4) is 'Section solar as JSON: m² and kW with 2 decimals, kWh whole; null where no source of buildings covers the place';

create or replace function api.coverage_solar(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_solar(int4, text, geometry) is 'as_found: mapped where buildings are mapped and a raster of yields lies; not_mapped where one of the two is not; not_loaded where one is not loaded, or the raster had left before the parcel came';
