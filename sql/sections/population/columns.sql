-- purpose: the section population of many parcels as columns
-- reads: section.population, section.demographics
-- writes: api.columns_population
-- grain: one row per parcel
-- crs: none

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
  -- A parcel in a census section without numbers is not covered.
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
