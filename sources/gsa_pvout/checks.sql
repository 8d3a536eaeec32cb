-- purpose: checks of the rasters of a release
-- reads: layer.pvout_tile
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: pvout_tile_in_italy
-- level: error
-- expects: every raster overlaps Italy, between 6 and 19 degrees east and 35 and 47.5 degrees north
select
  member_id,
  position,
  name
from pvout_tile
where not geom && st_makeenvelope(6, 35, 19, 47.5, 4326);
