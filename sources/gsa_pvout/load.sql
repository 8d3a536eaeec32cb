-- purpose: records the extent of each raster as a polygon
-- reads: staging.raw_tile
-- writes: layer.pvout_tile
-- grain: one row per raster
-- crs: EPSG:4326, as in the files

create table pvout_tile as
select
  release.release_id,
  raw.*,
  st_makeenvelope(
    raw.west,
    raw.north - raw.height * raw.cell_height,
    raw.west + raw.width * raw.cell_width,
    raw.north,
    4326
  )::geometry(polygon, 4326) as geom
from raw_tile as raw
cross join release
order by raw.name collate "C", raw.member_id;
