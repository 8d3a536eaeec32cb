-- purpose: values, JSON block and coverage of the section population for one parcel, and its columns for many parcels
-- reads: section.population, section.demographics
-- writes: api.values_population, api.section_population, api.coverage_population, api.columns_population
-- grain: one object per parcel, null if the parcel is in no census section with statistics; for columns one row per parcel in a census section
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
comment on function api.values_population(section.population) is 'Rounded values of the section population: estimated residents with 2 decimals, and the confidence with 4 decimals';

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
  -- A parcel in a census section without statistics is not covered.
  linked := (select value is not null from demographics d where d.fid = p_fid);
end
$$;
comment on function api.section_population(int4, anyelement) is 'Section population as JSON: residents of the census section distributed to the parcel by residential footprint and by area, the method and confidence of the estimate, and the residents of the comune. The result is null if the census section has no statistics. Result linked: true if the census section has statistics, false if it has none, null if the parcel is in no census section';

create or replace function api.coverage_population(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'if_found'
$$;
comment on function api.coverage_population(int4, text, geometry, anyelement) is 'Returns if_found. The coverage is then mapped if the statistics of the parcel''s census section are known, else not_mapped. The coverage is not_loaded if no census is loaded';

create or replace function api.columns_population(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with place as materialized (
    select d.fid
    from demographics d
    where d.fid = any (p_fids)
  ),
  estimate as materialized (
    select
      s.fid,
      json_build_array(
        v.estimated,
        v.dasymetric,
        v.areal,
        s.estimation_method,
        v.estimation_confidence,
        s.municipality_total
      ) as cells
    from population s
    cross join lateral api.values_population(row(s.*)::section.population) v
    where s.fid = any (p_fids)
  )
  -- A parcel in a census section without statistics is not covered.
  select
    p.fid,
    s.fid is not null,
    s.fid is not null,
    s.cells
  from place p
  left join estimate s on s.fid = p.fid;
end
$$;
comment on function api.columns_population(int4[], anyelement) is 'Section population as columns, for the parcels in a census section, with the values of api.section_population';
