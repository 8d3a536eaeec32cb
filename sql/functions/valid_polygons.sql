-- purpose: repair of invalid polygons
-- reads: none
-- writes: core.valid_polygons
-- grain: one call per area
-- crs: EPSG:4326

-- Checks the validity first, because a repair is slow and most polygons are valid.
create or replace function core.valid_polygons(area geometry) returns geometry(multipolygon, 4326)
language sql immutable parallel safe
as $$
  select st_multi(case when st_isvalid(area) then area else st_collectionextract(st_makevalid(area), 3) end)::geometry(multipolygon, 4326)
$$;
comment on function core.valid_polygons(geometry) is 'The polygons of an area in EPSG:4326, repaired if invalid. Empty if no polygon is left';
