-- purpose: the comune of a parcel
-- reads: core.comune, core.comune_found, core.region
-- writes: api.municipality, api.known_municipality
-- grain: one call per parcel
-- crs: none

create or replace function api.municipality(p_belfiore text, p_from anyelement) returns json
language plpgsql stable as $$
begin
  return coalesce(
    (
      select json_build_object(
        'code', c.belfiore,
        'name', c.name,
        'province', c.province_name,
        'region', r.name
      )
      from comune c
      left join region r on r.code = c.region_code
      where c.belfiore = p_belfiore
    ),
    -- An unlisted comune has the name in its files.
    (
      select json_build_object(
        'code', f.belfiore,
        'name', f.name,
        'province', null,
        'region', f.region_name
      )
      from comune_found f
      where f.belfiore = p_belfiore
      order by f.region_code
      limit 1
    )
  );
end
$$;
comment on function api.municipality(text, anyelement) is 'The block municipality of a comune by its cadastral code. An unlisted comune has the values in its files. Null if the comune is unknown';

create or replace function api.known_municipality(p_belfiore text, p_from anyelement) returns json
language sql stable as $$
  select coalesce(api.municipality(p_belfiore, p_from), json_build_object('code', p_belfiore, 'name', null, 'province', null, 'region', null))
$$;
comment on function api.known_municipality(text, anyelement) is 'The block municipality of a parcel''s comune. An unknown comune has only its code';
