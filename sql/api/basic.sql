-- purpose: the parts of a parcel's record that every answer has
-- reads: core.parcel, core.comune, core.comune_found, core.region, section.postal_code
-- writes: api.municipality, api.known_municipality, api.geojson, api.shown_area, api.centroid, api.section_basic
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.municipality(p_belfiore text) returns json
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
      from core.comune c
      left join core.region r on r.code = c.region_code
      where c.belfiore = p_belfiore
    ),
    -- A comune that the list lacks, as its files have it.
    (
      select json_build_object(
        'code', f.belfiore,
        'name', f.name,
        'province', null,
        'region', f.region_name
      )
      from core.comune_found f
      where f.belfiore = p_belfiore
      order by f.region_code
      limit 1
    )
  );
end
$$;
comment on function api.municipality(text) is 'The block municipality of a comune by its cadastral code; of one that the list lacks, what its files say; null when nothing is known of it';

create or replace function api.known_municipality(p_belfiore text) returns json
language sql stable as $$
  select coalesce(api.municipality(p_belfiore), json_build_object('code', p_belfiore, 'name', null, 'province', null, 'region', null))
$$;
comment on function api.known_municipality(text) is 'The block municipality of a parcel''s comune; of one that nothing is known of, its code alone';

create or replace function api.geojson(p_geom geometry) returns json
language sql stable as $$
  -- The cadastre prints 8 decimals, so a tenth of all coordinates lie exactly between two values of 7: a shift of a hundredth of
  -- the last digit decides them all upwards, where two builds of PostGIS would decide differently.
  select st_asgeojson(st_forcepolygonccw(st_translate(p_geom, 1e-10, 1e-10)), 7, 0)::json
$$;
comment on function api.geojson(geometry) is 'GeoJSON geometry of RFC 7946: longitude latitude, 7 decimals, outer rings counter-clockwise';

create or replace function api.shown_area(p_area_m2 float8) returns numeric
language sql immutable parallel safe as $$
  -- By way of four decimals: the last bit, in which builds of PROJ differ, must not decide a tie.
  select trim_scale(round(round(p_area_m2::numeric, 4), 2))
$$;
comment on function api.shown_area(float8) is 'An area in m² as every answer shows it, with 2 decimals';

create or replace function api.centroid(p_point geometry) returns json
language sql immutable parallel safe as $$
  select json_build_object(
    'lat', trim_scale(round(st_y(p_point)::numeric, 7)),
    'lng', trim_scale(round(st_x(p_point)::numeric, 7))
  )
$$;
comment on function api.centroid(geometry) is 'The representative point as every answer shows it: latitude and longitude, EPSG:4326, 7 decimals';

create or replace function api.section_basic(p_fid int4, out value json, out belfiore text, out point geometry)
language plpgsql stable as $$
begin
  select
    json_build_object(
      'fid', p.fid,
      'gml_id', p.gml_id,
      'label', p.label,
      'cadastral_reference', p.reference,
      'kind', p.kind,
      'area_m2', api.shown_area(p.area_m2),
      'centroid', api.centroid(p.point),
      'geometry', api.geojson(p.geom),
      'municipality', api.known_municipality(p.belfiore),
      'cadastral', json_build_object(
        'sheet', ltrim(p.sheet, '0'),
        'section', p.section,
        'attachment', nullif(p.attachment, '0'),
        'development', nullif(p.development, '0'),
        'comune_code', p.belfiore,
        'postal_code', (select z.cap from section.postal_code z where z.fid = p.fid)
      )
    ),
    p.belfiore,
    p.point
  into value, belfiore, point
  from core.parcel p
  where p.fid = p_fid;
end
$$;
comment on function api.section_basic(int4) is 'The section basic of a parcel, with what its coverage hangs on: its comune and its representative point (EPSG:4326); nulls when there is no such parcel';
