-- purpose: values and JSON block of the section valuation_history for one parcel, and its columns for many parcels
-- reads: section.valuation_history, core.quotation
-- writes: api.values_valuation_history, api.price_range, api.section_valuation_history, api.columns_valuation_history
-- grain: one object per parcel, one element per half-year; for columns one row per parcel in a zone
-- crs: none

create or replace function api.values_valuation_history(p_purchase_min numeric, p_purchase_max numeric, p_rental_min numeric, p_rental_max numeric)
returns table (
  purchase_min numeric,
  purchase_max numeric,
  purchase_mid numeric,
  rental_min numeric,
  rental_max numeric,
  rental_mid numeric,
  gross_yield_pct numeric
)
language sql immutable parallel safe as $$
  select
    p_purchase_min,
    p_purchase_max,
    trim_scale(round(m.purchase_mid, 2)),
    trim_scale(p_rental_min),
    trim_scale(p_rental_max),
    trim_scale(round(m.rental_mid, 2)),
    -- The gross yield is 12 times the middle of the monthly rents, divided by the middle of the prices.
    trim_scale(round(1200 * m.rental_mid / nullif(m.purchase_mid, 0), 2))
  from (
    select
      (p_purchase_min + p_purchase_max) / 2 as purchase_mid,
      (p_rental_min + p_rental_max) / 2 as rental_mid
  ) m
$$;
comment on function api.values_valuation_history(numeric, numeric, numeric, numeric) is 'Values of a half-year: prices in €/m², rents in €/m² per month, and, with 2 decimals, the middle of each range and the gross yield (percent per year). A value is null if OMI does not quote it';

create or replace function api.price_range(p_min numeric, p_max numeric, p_mid numeric) returns text
-- Declared stable, because concat is stable. PostgreSQL cannot inline an immutable function that calls stable functions.
language sql stable parallel safe as $$
  select concat(
    '{"min_eur_m2" : ',
    coalesce(p_min::text, 'null'),
    ', "max_eur_m2" : ',
    coalesce(p_max::text, 'null'),
    ', "mid_eur_m2" : ',
    coalesce(p_mid::text, 'null'),
    '}'
  )
$$;
comment on function api.price_range(numeric, numeric, numeric) is 'JSON text of a range of prices or rents per m² with its middle';

create or replace function api.section_valuation_history(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  -- The parcel's rows are materialized first, because parcels and quotations may be on different nodes.
  with run as materialized (
    select
      r.since,
      r.until,
      r.belfiore,
      r.zona,
      r.half_year,
      r.perimeter_half_year,
      r.then_belfiore,
      r.then_zona
    from valuation_history r
    where r.fid = p_fid
  ),
  quoted as (
    select
      r.belfiore,
      r.zona,
      q.half_year,
      r.then_zona,
      r.half_year is not null or r.then_zona is not null as linked,
      q.purchase_min,
      q.purchase_max,
      q.purchase_mid,
      q.rental_min,
      q.rental_max,
      q.rental_mid,
      q.gross_yield_pct
    from run r
    cross join lateral (
      select
        s.half_year,
        v.*
      from generate_series(r.since::int4, r.until::int4) as s (half_year)
      -- Type 20 is Abitazioni civili (civil dwellings). The half-years of a row are one range of the index.
      left join (
        -- Converts each number once, because the values below use each number several times.
        select
          i.half_year,
          i.purchase_min_eur_m2::numeric as purchase_min,
          i.purchase_max_eur_m2::numeric as purchase_max,
          i.rental_min_eur_m2_month::numeric as rental_min,
          i.rental_max_eur_m2_month::numeric as rental_max
        from quotation i
        where i.region_code = core.region_of(p_fid)
          and i.belfiore = r.then_belfiore
          and i.zona = r.then_zona
          and i.half_year between r.since and r.until
          and i.cod_tip = 20
          and i.stato = 'NORMALE'
        offset 0
      ) o on o.half_year = s.half_year
      cross join lateral api.values_valuation_history(o.purchase_min, o.purchase_max, o.rental_min, o.rental_max) v
    ) q
  )
  select
    json_build_object(
      'zone_current', min(zona),
      'municipality_code', min(belfiore),
      'property_type', 'Abitazioni civili',
      'condition', 'NORMALE',
      -- Joins text, because json_build_object looks up the type of each value again in each row.
      'semesters', json_agg(
        concat(
          '{"semester" : "',
          core.semester(half_year),
          '", "zone" : ',
          coalesce(to_json(then_zona)::text, 'null'),
          ', "purchase" : ',
          api.price_range(purchase_min, purchase_max, purchase_mid),
          ', "rental" : ',
          api.price_range(rental_min, rental_max, rental_mid),
          ', "gross_yield_pct" : ',
          coalesce(gross_yield_pct::text, 'null'),
          '}'
        )::json
        order by half_year
      ),
      'source', null
    ),
    -- The history counts as not covered if the parcel's zone was found neither in the half-year of the quotations nor in any half-year of the history.
    bool_or(quoted.linked),
    array[(
      select 'valuation_history/' || concat_ws(
        ' ',
        string_agg(r.since || '-' || r.until, ',' order by r.since) filter (where r.then_zona is not null),
        'perimeter ' || min(r.perimeter_half_year),
        'quoted ' || min(r.half_year)
      )
      from run r
    )]
  into value, linked, keys
  from quoted
  having count(*) > 0;
end
$$;
comment on function api.section_valuation_history(int4, anyelement) is 'Section valuation_history as JSON: quotations of civil dwellings in normal state over 22 half-years. Null if the parcel is in no zone. Result linked: true if the zone exists in one of the half-years, null if the parcel is in no zone';

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
    -- Type 20 is Abitazioni civili (civil dwellings). Looks up each zone in the index. In the tables of an earlier publication, PostgreSQL would read all
    -- quotations for a join.
    cross join lateral (
      select
        o.purchase_min_eur_m2::numeric as purchase_min,
        o.purchase_max_eur_m2::numeric as purchase_max,
        o.rental_min_eur_m2_month::numeric as rental_min,
        o.rental_max_eur_m2_month::numeric as rental_max
      from quotation o
      where o.region_code = a.region_code
        and o.belfiore = a.then_belfiore
        and o.zona = a.then_zona
        and o.half_year = a.half_year
        and o.cod_tip = 20
        and o.stato = 'NORMALE'
      offset 0
    ) q
    cross join lateral api.values_valuation_history(q.purchase_min, q.purchase_max, q.rental_min, q.rental_max) v
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
comment on function api.columns_valuation_history(int4[], anyelement) is 'Section valuation_history as columns, for the parcels in a zone, with the values of the newest half-year. Column linked: the same as result linked of api.section_valuation_history';
