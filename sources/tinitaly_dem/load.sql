-- purpose: records the extent of each raster as a polygon
-- reads: staging.raw_tile
-- writes: layer.tinitaly_tile
-- grain: one row per raster
-- crs: from the file's CRS to EPSG:4326

create table tinitaly_tile as
select
  release.release_id,
  raw.*,
  'ground' as elevation_of,
  -- Edges are split into segments of at most 1 km, because a straight edge of the projection is not straight in degrees.
  st_transform(
    st_segmentize(
      st_makeenvelope(
        raw.west,
        raw.north - raw.height * raw.cell_height,
        raw.west + raw.width * raw.cell_width,
        raw.north,
        raw.epsg
      ),
      1000
    ),
    4326
  )::geometry(polygon, 4326) as geom
from raw_tile as raw
cross join release
order by raw.name collate "C", raw.member_id;
