-- purpose: API responses to address searches by text, and to searches for addresses around a point
-- reads: core.comune, core.region
-- writes: api.find_comunes, api.named_comuni, api.not_loaded, api.search_answer, api.reverse_answer
-- grain: one call per response
-- crs: EPSG:4326, longitude latitude

create or replace function api.find_comunes(p_keys text[], p_fuzzy bool, out hits jsonb)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select api.geocode_comune(p_keys, p_fuzzy)
$$;
comment on function api.find_comunes(text[], bool) is 'Places that the keys of a query name, as returned by api.geocode_comune';

create or replace function api.named_comuni(p_readings jsonb) returns text[]
language sql immutable parallel safe as $$
  select array(
    select distinct c.belfiore
    from jsonb_array_elements(p_readings) as r (reading)
    cross join lateral (
      values
        (r.reading -> 'comuni'),
        (r.reading -> 'called')
    ) as n (codes)
    cross join lateral jsonb_array_elements_text(case jsonb_typeof(n.codes) when 'array' then n.codes else '[]' end) as c (belfiore)
    order by 1
  )
$$;
comment on function api.named_comuni(jsonb) is 'Cadastral codes of the comuni that the readings of a query name';

create or replace function api.not_loaded(p_readings jsonb) returns jsonb
language plpgsql stable as $$
begin
  return (
    select jsonb_agg(
      jsonb_build_object(
        'municipality', c.name,
        'province', c.province_name,
        'region', g.name
      )
      order by c.name collate "C", c.belfiore collate "C"
    )
    from unnest(api.named_comuni(p_readings)) as n (belfiore)
    join core.comune c on c.belfiore = n.belfiore
    left join core.region g on g.code = c.region_code
    where not api.has_addresses(array[n.belfiore])
  );
end
$$;
comment on function api.not_loaded(jsonb) is 'Comuni that the readings of a query name and that have no loaded addresses, as an array of {municipality, province, region}. Null if there are none';

create or replace function api.search_answer(p_readings jsonb, p_query text, p_city text, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_found jsonb;
  v_not_loaded jsonb;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_found := api.geocode_search(jsonb_build_object('readings', p_readings), p_limit);
  if v_found = '[]' then
    v_not_loaded := api.not_loaded(p_readings);
  end if;
  answer := api.envelope(
    v_found::json,
    case
      when v_not_loaded is null then json_build_object('query', p_query, 'city', p_city, 'count', jsonb_array_length(v_found))
      else json_build_object('query', p_query, 'city', p_city, 'count', 0, 'not_loaded', v_not_loaded)
    end
  );
end
$$;
comment on function api.search_answer(jsonb, text, text, int4) is 'Response with the addresses for the readings of a query, best first, and query and city as in the request. If no address is found, the response lists the named comuni that have no loaded addresses';

create or replace function api.reverse_answer(p_lat float8, p_lng float8, p_radius_m int4, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_found jsonb;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_found := api.geocode_reverse(p_lat, p_lng, p_radius_m, p_limit);
  answer := api.envelope(
    v_found::json,
    json_build_object('lat', p_lat, 'lng', p_lng, 'radius_m', p_radius_m, 'count', jsonb_array_length(v_found))
  );
end
$$;
comment on function api.reverse_answer(float8, float8, int4, int4) is 'Response with the addresses around a point, nearest first';
