-- purpose: the section valuation of one parcel, and its columns for many parcels
-- reads: section.valuation, core.quotation, core.quotation_zone
-- writes: api.section_valuation, api.columns_valuation
-- grain: one array per parcel, one element per building type and state of repair; for columns one row per parcel in a zone
-- crs: none

create or replace function api.section_valuation(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_key text;
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'zone', v.zona,
          'fascia', z.fascia,
          'microzona', z.microzona,
          'zone_description', z.description,
          'municipality', z.comune_name || ' (' || v.belfiore || ')',
          'property_type', q.type,
          'condition', q.stato,
          'purchase', json_build_object(
            'min_eur_m2', q.purchase_min_eur_m2,
            'max_eur_m2', q.purchase_max_eur_m2
          ),
          'rental', json_build_object(
            'min_eur_m2', trim_scale(q.rental_min_eur_m2_month::numeric),
            'max_eur_m2', trim_scale(q.rental_max_eur_m2_month::numeric)
          ),
          'previous_semester', json_build_object(
            'purchase', json_build_object(
              'min_eur_m2', b.purchase_min_eur_m2,
              'max_eur_m2', b.purchase_max_eur_m2
            ),
            'rental', json_build_object(
              'min_eur_m2', trim_scale(b.rental_min_eur_m2_month::numeric),
              'max_eur_m2', trim_scale(b.rental_max_eur_m2_month::numeric)
            )
          ),
          'semester', z.semester,
          'zone_perimeter_semester', core.semester(v.perimeter_half_year)
        )
        order by q.cod_tip, q.stato collate "C"
      ) filter (where z.zona is not null and q.zona is not null),
      '[]'::json
    ),
    bool_or(v.half_year is not null),
    concat_ws(' ', min(v.half_year), min(v.perimeter_half_year), case when bool_or(b.zona is not null) then 'previous' end)
  into value, linked, v_key
  from valuation v
  left join quotation_zone z on z.region_code = core.region_of(p_fid)
    and z.belfiore = v.belfiore
    and z.zona = v.zona
    and z.half_year = v.half_year
  left join quotation q on q.region_code = core.region_of(p_fid)
    and q.belfiore = v.belfiore
    and q.zona = v.zona
    and q.half_year = v.half_year
  left join quotation b on b.region_code = core.region_of(p_fid)
    and b.belfiore = v.previous_belfiore
    and b.zona = v.previous_zona
    and b.half_year = v.half_year - 1
    and b.cod_tip = q.cod_tip
    and b.stato is not distinct from q.stato
  where v.fid = p_fid;
  if value::text <> '[]' then
    keys := array['valuation/' || v_key];
  end if;
end
$$;
comment on function api.section_valuation(int4, anyelement) is 'Section valuation as JSON: OMI quotations of the parcel''s zone in euro per square metre (rents per month). The array is empty if there are none. A price is null if OMI does not quote the price. Member zone_perimeter_semester is the half-year of the perimeter that contains the parcel. Result linked: true if the zone of the parcel was found in the half-year of the quotations, null if the parcel is in no zone';

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
    -- Looks up each zone in the index. In the tables of an earlier publication, PostgreSQL would read all zones for a join.
    cross join lateral (
      select *
      from quotation_zone o
      where o.region_code = a.region_code
        and o.belfiore = a.belfiore
        and o.zona = a.zona
        and o.half_year = a.half_year
      offset 0
    ) z
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
comment on function api.columns_valuation(int4[], anyelement) is 'Section valuation as columns, for the parcels in a zone: the number of quotations of the zone, and the zone. Column linked: the same as result linked of api.section_valuation';
