-- purpose: the JSON of an address in API responses
-- reads: core.access_point, core.street, core.comune, core.comune_found, core.region
-- writes: api.street_number, api.formatted_address, api.address_json
-- grain: one call per access point
-- crs: EPSG:4326, latitude and longitude in degrees

create or replace function api.street_number(p_number int4, p_exponent text, p_colour text, p_metric_m int4) returns text
-- Declared stable, because the function calls stable functions. PostgreSQL cannot inline an immutable function that calls stable functions.
language sql stable parallel safe as $$
  select case
    when p_number is not null then concat_ws(' ', concat_ws('/', p_number, p_exponent), p_colour)
    when p_metric_m is not null then concat_ws(
      ' ',
      concat_ws('/', 'KM ' || p_metric_m / 1000 || '+' || lpad((p_metric_m % 1000)::text, 3, '0'), p_exponent),
      p_colour
    )
    else 'SNC'
  end
$$;
comment on function api.street_number(int4, text, text, int4) is 'Civico as text, such as 12, 12/A, 12 ROSSO, KM 3+200 or SNC';

create or replace function api.formatted_address(p_street text, p_number text, p_place text, p_province text) returns text
-- Declared stable for the same reason as api.street_number.
language sql stable parallel safe as $$
  select concat_ws(
    ', ',
    concat_ws(' ', p_street, p_number),
    p_place,
    -- If comune and province have the same name, such as Campobasso, the name appears once.
    nullif(p_province, p_place)
  )
$$;
comment on function api.formatted_address(text, text, text, text) is 'Address as text: street and civico, the locality (or else the comune), and the province. Unknown parts are left out';

create or replace function api.address_json(p_region_code int2, p_address_id int8, p_from anyelement) returns jsonb
language plpgsql stable as $$
begin
  return (
    select jsonb_build_object(
      'address_id', a.address_id,
      'street_name', s.name,
      'street_number', n.shown,
      'locality', coalesce(s.locality, ''),
      'municipality_code', a.belfiore,
      'municipality_name', coalesce(c.name, f.name),
      'province', c.province_name,
      'region', coalesce(r.name, f.region_name),
      'latitude', trim_scale(round(st_y(a.geom)::numeric, 7)),
      'longitude', trim_scale(round(st_x(a.geom)::numeric, 7)),
      'formatted_address', api.formatted_address(s.name, n.shown, l.place, c.province_name)
    )
    from access_point a
    join street s on s.region_code = a.region_code and s.street_id = a.street_id
    left join comune c on c.belfiore = a.belfiore
    left join comune_found f on f.region_code = a.region_code and f.belfiore = a.belfiore
    left join region r on r.code = coalesce(c.region_code, a.region_code)
    cross join lateral (select api.street_number(a.number, a.exponent, a.colour, a.metric_m) as shown) n
    cross join lateral (select coalesce(nullif(s.locality, ''), c.name, f.name) as place) l
    where a.region_code = p_region_code
      and a.address_id = p_address_id
  );
end
$$;
comment on function api.address_json(int2, int8, anyelement) is 'JSON of an access point in API responses: street, civico, locality, comune, province, region and point. Member formatted_address is the text of api.formatted_address';
