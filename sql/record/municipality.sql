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
    -- A comune that is not in the ISTAT list has the name given in its files.
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
comment on function api.municipality(text, anyelement) is 'Block municipality of a comune, given by its cadastral code. A comune that is not in the ISTAT list has the name and region given in its files. Null if the comune is unknown';

create or replace function api.known_municipality(p_belfiore text, p_from anyelement) returns json
language sql stable as $$
  select coalesce(api.municipality(p_belfiore, p_from), json_build_object('code', p_belfiore, 'name', null, 'province', null, 'region', null))
$$;
comment on function api.known_municipality(text, anyelement) is 'Block municipality of a parcel''s comune. For an unknown comune, the block has only the cadastral code';
