-- purpose: the section valuation of many parcels as columns
-- reads: section.valuation, core.quotation, core.quotation_zone
-- writes: api.columns_valuation
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_valuation(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with place as materialized (
    select
      s.fid,
      core.region_of(s.fid) as region_code,
      s.belfiore,
      s.zona,
      s.half_year
    from valuation s
    where s.fid = any (p_fids)
  ),
  -- Counts the quotations per zone instead of per parcel, because there are few zones.
  quoted as materialized (
    select
      z.region_code,
      z.belfiore,
      z.zona,
      z.half_year,
      z.fascia,
      z.description,
      z.semester,
      (
        select count(*)
        from quotation q
        where q.region_code = z.region_code
          and q.belfiore = z.belfiore
          and q.zona = z.zona
          and q.half_year = z.half_year
      ) as n
    from (
      select distinct
        p.region_code,
        p.belfiore,
        p.zona,
        p.half_year
      from place p
      where p.half_year is not null
    ) a
    join quotation_zone z
      on z.region_code = a.region_code
      and z.belfiore = a.belfiore
      and z.zona = a.zona
      and z.half_year = a.half_year
  )
  select
    p.fid,
    p.half_year is not null,
    coalesce(z.n > 0, false),
    case
      when z.n > 0 then json_build_array(
        z.n,
        z.zona,
        z.fascia,
        z.description,
        z.semester
      )
    end
  from place p
  left join quoted z
    on z.region_code = p.region_code
    and z.belfiore = p.belfiore
    and z.zona = p.zona
    and z.half_year = p.half_year;
end
$$;
comment on function api.columns_valuation(int4[], anyelement) is 'Section valuation as columns, for the parcels in a zone: the number of quotations of the zone, and the zone. Column linked: as result linked of api.section_valuation';
