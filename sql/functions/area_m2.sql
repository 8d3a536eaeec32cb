-- purpose: the true area of a polygon whose coordinates are in degrees
-- reads: none
-- writes: core.area_m2
-- grain: one call per area
-- crs: from EPSG:4326 to EPSG:3035, an equal-area projection

-- An edge that is straight in degrees is a curve in EPSG:3035. If edges are split at 0.0001 degrees (11 m), the area along an edge of 100 m is accurate to
-- 0.0002 m². Without splitting, the area is accurate to 0.02 m².
create or replace function core.area_m2(area geometry) returns float8
language sql immutable parallel safe
as $$
  select st_area(st_transform(st_segmentize(area, 0.0001), 3035))
$$;
comment on function core.area_m2(geometry) is 'The true area in m² of a polygon in EPSG:4326, measured in EPSG:3035. Edges are straight in degrees';
