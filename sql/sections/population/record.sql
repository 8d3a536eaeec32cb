-- purpose: the section population of one parcel
-- reads: section.population, section.demographics
-- writes: api.section_population
-- grain: one object, or null where nothing is known of the census section
-- crs: none

create or replace function api.section_population(p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
begin
  value := (
    select json_build_object(
      'estimated', trim_scale(round(p.estimated::numeric, 2)),
      'dasymetric', trim_scale(round(p.dasymetric::numeric, 2)),
      'areal', trim_scale(round(p.areal::numeric, 2)),
      'estimation_method', p.estimation_method,
      'estimation_confidence', trim_scale(round(p.estimation_confidence::numeric, 4)),
      'municipality_total', p.municipality_total,
      'source', api.section_source(p_fid, 'population')
    )
    from section.population p
    where p.fid = p_fid
  );
  -- In a census section of which nothing is known the census does not speak of the place.
  linked := (select value is not null from section.demographics d where d.fid = p_fid);
end
$$;
comment on function api.section_population(int4) is 'Section population as JSON: residents spread from the census section, by residential footprint and by area (2 decimals), which of them is the estimate, its confidence (4 decimals), residents of the comune; null where nothing is known of the section. linked: whether the section that the parcel lies in has figures; null: it lies in none';
