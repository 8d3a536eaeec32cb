-- purpose: the section valuation_history of many parcels as columns
-- reads: section.valuation_history, core.quotation
-- writes: api.columns_valuation_history
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_valuation_history(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with run as materialized (
    select distinct on (s.fid)
      s.fid,
      core.region_of(s.fid) as region_code,
      min(s.zona) over (partition by s.fid) as zona,
      s.until as half_year,
      s.then_belfiore,
      s.then_zona,
      bool_or(s.half_year is not null or s.then_zona is not null) over (partition by s.fid) as linked
    from valuation_history s
    where s.fid = any (p_fids)
    order by s.fid, s.until desc
  ),
  quoted as materialized (
    select
      a.region_code,
      a.then_belfiore,
      a.then_zona,
      a.half_year,
      v.*
    from (
      select distinct
        r.region_code,
        r.then_belfiore,
        r.then_zona,
        r.half_year
      from run r
    ) a
    -- Type 20 is Abitazioni civili (civil dwellings).
    join quotation q
      on q.region_code = a.region_code
      and q.belfiore = a.then_belfiore
      and q.zona = a.then_zona
      and q.half_year = a.half_year
      and q.cod_tip = 20
      and q.stato = 'NORMALE'
    cross join lateral api.values_valuation_history(row(q.*)::core.quotation) v
  )
  select
    r.fid,
    r.linked,
    true,
    json_build_array(
      r.zona,
      core.semester(r.half_year),
      q.purchase_min,
      q.purchase_max,
      q.purchase_mid,
      q.rental_min,
      q.rental_max,
      q.rental_mid,
      q.gross_yield_pct
    )
  from run r
  left join quoted q
    on q.region_code = r.region_code
    and q.then_belfiore = r.then_belfiore
    and q.then_zona = r.then_zona
    and q.half_year = r.half_year;
end
$$;
comment on function api.columns_valuation_history(int4[], anyelement) is 'Section valuation_history as columns, for the parcels in a zone, with the values of the newest half-year. Column linked: as result linked of api.section_valuation_history';
