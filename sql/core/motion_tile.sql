-- purpose: loaded ground-motion tiles
-- version: 1
-- reads: layer.egms_tile
-- writes: core.motion_tile
-- grain: one row per tile and file
-- crs: none; the numbers of a tile identify a square of 100 km in EPSG:3035

create table motion_tile as
select
  region.code as region_code,
  tile.tile_x,
  tile.tile_y,
  tile.release_id,
  tile.member_id,
  tile.position
from egms_tile as tile
cross join region
order by tile.tile_x, tile.tile_y, tile.member_id;
