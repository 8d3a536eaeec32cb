-- purpose: records each raster with its extent as a polygon, its product, and the regions that its extent overlaps
-- reads: staging.raw_tile, core.region_box
-- writes: layer.radiance_tile
-- grain: one row per raster
-- crs: EPSG:4326, as in the files

create table radiance_tile as
select
  release.release_id,
  raw.*,
  release.vintage::int4 as year,
  core.upper_case(substring(raw.name from '^[A-Za-z0-9]+')) as product,
  coalesce(substring(raw.name from '(?i)\.h\d\dv\d\d\.(\d{3})(?:\.|$)')::int4, 0) as collection,
  array(
    select box.region_code
    from core.region_box as box
    where extent.geom && box.geom
    order by box.region_code
  ) as regions,
  extent.geom
from raw_tile as raw
cross join release
cross join lateral (
  select
    st_makeenvelope(
      raw.west,
      raw.north - raw.height * raw.cell_height,
      raw.west + raw.width * raw.cell_width,
      raw.north,
      4326
    )::geometry(polygon, 4326) as geom
) as extent
order by raw.name collate "C", raw.member_id;
