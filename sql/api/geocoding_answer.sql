-- purpose: addresses found by text and around a point, as the server answers them
-- reads: none
-- writes: api.find_comunes, api.search_answer, api.reverse_answer
-- grain: one call per answer
-- crs: EPSG:4326, longitude latitude

create or replace function api.find_comunes(p_keys text[], p_fuzzy bool, out hits jsonb)
language sql stable security definer
set search_path to public, pg_temp
as $$
  select api.geocode_comune(p_keys, p_fuzzy)
$$;
comment on function api.find_comunes(text[], bool) is 'The gazetteer, for reading a query: see api.geocode_comune';

create or replace function api.search_answer(p_readings jsonb, p_query text, p_city text, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
declare
  v_found jsonb;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_found := api.geocode_search(jsonb_build_object('readings', p_readings), p_limit);
  answer := api.envelope(v_found::json, json_build_object('query', p_query, 'city', p_city, 'count', jsonb_array_length(v_found)));
end
$$;
comment on function api.search_answer(jsonb, text, text, int4) is 'Addresses for the readings of a query, best first; query and city are echoed';

create or replace function api.reverse_answer(p_lat float8, p_lng float8, p_radius_m int4, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
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
comment on function api.reverse_answer(float8, float8, int4, int4) is 'Addresses around a point, nearest first';
