-- purpose: the values of the section population, its block of one parcel, and whether its source covers the parcel
-- reads: section.population, section.demographics
-- writes: api.values_population, api.section_population, api.coverage_population
-- grain: one object, or null if the census section has no figures; one word of coverage
-- crs: none

create or replace function api.values_population(p_row section.population)
returns table (estimated numeric, dasymetric numeric, areal numeric, estimation_confidence numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).estimated::numeric, 2)),
    trim_scale(round((p_row).dasymetric::numeric, 2)),
    trim_scale(round((p_row).areal::numeric, 2)),
    trim_scale(round((p_row).estimation_confidence::numeric, 4))
$$;
comment on function api.values_population(section.population) is 'Rounded values of the section population: residents with 2 decimals, confidence with 4';

create or replace function api.section_population(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'estimated', v.estimated,
      'dasymetric', v.dasymetric,
      'areal', v.areal,
      'estimation_method', p.estimation_method,
      'estimation_confidence', v.estimation_confidence,
      'municipality_total', p.municipality_total,
      'source', null
    ),
    array[k.place, k.place || ' ' || p.section_id]
  into value, keys
  from population p
  cross join lateral api.values_population(row(p.*)::section.population) v
  cross join lateral (select 'population/' || left(p.section_id, -7) || ' ' || p.estimation_method as place) k
  where p.fid = p_fid;
  -- A census section without figures does not cover the parcel.
  linked := (select value is not null from demographics d where d.fid = p_fid);
end
$$;
comment on function api.section_population(int4, anyelement) is 'Section population as JSON: residents of the census section divided by residential footprint and by area, which of the two is the estimate, its confidence, and the residents of the comune; null if the section has no figures. linked: whether the parcel''s census section has figures (null: the parcel is in none)';

create or replace function api.coverage_population(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'if_found'
$$;
comment on function api.coverage_population(int4, text, geometry, anyelement) is 'if_found: mapped where figures of the census section are known; not_mapped where they are not, or the parcel is in no section; not_loaded where no census is loaded';
