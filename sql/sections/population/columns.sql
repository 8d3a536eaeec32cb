-- purpose: the section population of many parcels, a row of columns each
-- reads: section.population, section.demographics
-- writes: api.columns_population
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_population(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with place as materialized (
    select d.fid
    from section.demographics d
    where d.fid = any (p_fids)
  ),
  estimate as materialized (
    select s.*
    from section.population s
    where s.fid = any (p_fids)
  )
  -- In a census section of which nothing is known the census does not speak of the place.
  select
    p.fid,
    s.fid is not null,
    s.fid is not null,
    case
      when s.fid is not null then json_build_array(
        trim_scale(round(s.estimated::numeric, 2)),
        trim_scale(round(s.dasymetric::numeric, 2)),
        trim_scale(round(s.areal::numeric, 2)),
        s.estimation_method,
        trim_scale(round(s.estimation_confidence::numeric, 4)),
        s.municipality_total
      )
    end
  from place p
  left join estimate s on s.fid = p.fid;
end
$$;
comment on function api.columns_population(int4[]) is 'Section population as columns, of the parcels that lie in a census section; values and linked as api.section_population gives them';
