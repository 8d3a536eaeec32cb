-- purpose: checks of the rasters of a release
-- reads: layer.radiance_tile
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: radiance_tile_in_italy
-- level: error
-- expects: every raster overlaps Italy, between 6 and 19 degrees east and 35 and 47.5 degrees north
select
  member_id,
  position,
  name
from radiance_tile
where not geom && st_makeenvelope(6, 35, 19, 47.5, 4326);

-- check: radiance_tile_on_one_grid
-- level: warn
-- expects: the edges of all tiles are on one grid, so that the tiles can be read as one raster
select
  tile.member_id,
  tile.position,
  tile.name,
  tile.west,
  tile.north
from radiance_tile as tile
cross join (
  select
    west,
    north
  from radiance_tile
  order by name collate "C", member_id
  limit 1
) as origin
cross join lateral (
  select
    (tile.west - origin.west) / tile.cell_width as columns_apart,
    (tile.north - origin.north) / tile.cell_height as rows_apart
) as apart
where abs(columns_apart - round(columns_apart)) > 0.001
  or abs(rows_apart - round(rows_apart)) > 0.001;
