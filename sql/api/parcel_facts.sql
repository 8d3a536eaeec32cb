-- purpose: geometry, area and coordinates of a parcel in the format of all API responses
-- reads: none
-- writes: api.geojson, api.shown_area, api.shown_degrees, api.centroid
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.geojson(p_geom geometry) returns json
language sql stable as $$
  -- The cadastre writes coordinates with 8 decimals, so a tenth of the coordinates are exactly halfway between two values with 7 decimals. Builds of PostGIS
  -- round such coordinates differently. A shift by 1e-10° makes all builds round such coordinates up.
  select st_asgeojson(st_forcepolygonccw(st_translate(p_geom, 1e-10, 1e-10)), 7, 0)::json
$$;
comment on function api.geojson(geometry) is 'GeoJSON geometry of RFC 7946: longitude latitude, 7 decimals, outer rings counter-clockwise';

create or replace function api.shown_area(p_area_m2 float8) returns numeric
language sql immutable parallel safe as $$
  -- Rounds to four decimals first. The last bit of the area differs between builds of PROJ, and must not decide whether a tie is rounded up.
  select trim_scale(round(round(p_area_m2::numeric, 4), 2))
$$;
comment on function api.shown_area(float8) is 'An area in m² with 2 decimals, as in every API response';

create or replace function api.shown_degrees(p_degrees float8) returns numeric
language sql immutable parallel safe as $$
  select trim_scale(round(p_degrees::numeric, 7))
$$;
comment on function api.shown_degrees(float8) is 'A coordinate in degrees with 7 decimals, as in every API response';

create or replace function api.centroid(p_point geometry) returns json
-- Declared stable, because json_build_object is stable. PostgreSQL cannot inline an immutable function that calls stable functions.
language sql stable parallel safe as $$
  select json_build_object(
    'lat', api.shown_degrees(st_y(p_point)),
    'lng', api.shown_degrees(st_x(p_point))
  )
$$;
comment on function api.centroid(geometry) is 'The representative point in the format of every API response: latitude and longitude, EPSG:4326, 7 decimals';
