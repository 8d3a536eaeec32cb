-- purpose: the section valuation_history of one parcel
-- reads: section.valuation_history, core.quotation
-- writes: api.section_valuation_history
-- grain: one object per parcel, one element per half-year
-- crs: none

create or replace function api.section_valuation_history(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  -- Read first: where parcels lie on other nodes, quotations lie here.
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
    from section.valuation_history r
    where r.fid = p_fid
  ),
  quoted as (
    select
      r.belfiore,
      r.zona,
      q.half_year,
      r.then_zona,
      r.half_year is not null or r.then_zona is not null as linked,
      q.purchase_min_eur_m2::numeric as purchase_min,
      q.purchase_max_eur_m2::numeric as purchase_max,
      (q.purchase_min_eur_m2::numeric + q.purchase_max_eur_m2) / 2 as purchase_mid,
      q.rental_min_eur_m2_month::numeric as rental_min,
      q.rental_max_eur_m2_month::numeric as rental_max,
      (q.rental_min_eur_m2_month::numeric + q.rental_max_eur_m2_month::numeric) / 2 as rental_mid
    from run r
    cross join lateral (
      select
        s.half_year,
        o.purchase_min_eur_m2,
        o.purchase_max_eur_m2,
        o.rental_min_eur_m2_month,
        o.rental_max_eur_m2_month
      from generate_series(r.since::int4, r.until::int4) as s (half_year)
      -- 20: Abitazioni civili. Those of a run are one stretch of the index.
      left join (
        select *
        from core.quotation i
        where i.region_code = core.region_of(p_fid)
          and i.belfiore = r.then_belfiore
          and i.zona = r.then_zona
          and i.half_year between r.since and r.until
          and i.cod_tip = 20
          and i.stato = 'NORMALE'
        offset 0
      ) o on o.half_year = s.half_year
    ) q
  )
  select
    json_build_object(
      'zone_current', min(zona),
      'municipality_code', min(belfiore),
      'property_type', 'Abitazioni civili',
      'condition', 'NORMALE',
      'semesters', json_agg(
        json_build_object(
          'semester', (half_year / 2) || '_' || (half_year % 2 + 1),
          'zone', then_zona,
          'purchase', json_build_object(
            'min_eur_m2', purchase_min,
            'max_eur_m2', purchase_max,
            'mid_eur_m2', trim_scale(round(purchase_mid, 2))
          ),
          'rental', json_build_object(
            'min_eur_m2', trim_scale(rental_min),
            'max_eur_m2', trim_scale(rental_max),
            'mid_eur_m2', trim_scale(round(rental_mid, 2))
          ),
          -- A year of rent over the price, both at the middle of their range.
          'gross_yield_pct', trim_scale(round(1200 * rental_mid / nullif(purchase_mid, 0), 2))
        )
        order by half_year
      ),
      'source', null
    ),
    -- In a zone that no half-year has by its LinkZona the history is empty because nothing is known.
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
comment on function api.section_valuation_history(int4) is 'Section valuation_history as JSON: civil dwellings in normal state over 22 half-years, euro per square metre (rents per month), middles and gross yield (percent a year) with 2 decimals; null: not quoted; null as a whole: the parcel is in no zone. linked: whether any half-year knows the zone; null: the parcel is in none';
