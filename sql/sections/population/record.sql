-- purpose: the section population of one parcel, and whether its source covers the place
-- reads: section.population, section.demographics
-- writes: api.section_population, api.coverage_population
-- grain: one object, or null where nothing is known of the census section; one word
-- crs: none

create or replace function api.section_population(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.population;
  v_key text;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.population p
  where p.fid = p_fid;
  if v_found.fid is not null then
    v_key := 'population/' || left(v_found.section_id, -7) || ' ' || v_found.estimation_method;
    keys := array[v_key, v_key || ' ' || v_found.section_id];
    value := json_build_object(
      'estimated', trim_scale(round(v_found.estimated::numeric, 2)),
      'dasymetric', trim_scale(round(v_found.dasymetric::numeric, 2)),
      'areal', trim_scale(round(v_found.areal::numeric, 2)),
      'estimation_method', v_found.estimation_method,
      'estimation_confidence', trim_scale(round(v_found.estimation_confidence::numeric, 4)),
      'municipality_total', v_found.municipality_total,
      'source', null
    );
  end if;
  -- In a census section of which nothing is known the census does not speak of the place.
  linked := (select value is not null from section.demographics d where d.fid = p_fid);
end
$$;
comment on function api.section_population(int4) is 'Section population as JSON: residents spread from the census section, by residential footprint and by area (2 decimals), which of them is the estimate, its confidence (4 decimals), residents of the comune; null where nothing is known of the section. linked: whether the section that the parcel lies in has figures; null: it lies in none';

create or replace function api.coverage_population(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  select 'if_found'
$$;
comment on function api.coverage_population(int4, text, geometry) is 'if_found: mapped where figures of the census section are known; not_mapped where they are not, or the parcel is in no section; not_loaded where no census is loaded';
