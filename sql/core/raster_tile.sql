-- purpose: loaded rasters, each with the section that uses its values
-- version: 3
-- reads: layer.tinitaly_tile, layer.copernicus_tile, layer.pvout_tile, layer.radiance_tile
-- writes: core.raster_tile
-- grain: one row per raster and section
-- crs: EPSG:4326

-- A region uses the night lights of one product only. Rasters that intersect the region are sorted by year (newest first), collection (2 before 1) and product
-- (VNP46A4 before VJ146A4). The product of the first raster is used. A raster loaded by an earlier version of mappale has no product, and is VNP46A4 of
-- collection 1.
create table raster_tile as
with light as (
  select
    tile.name,
    tile.release_id,
    tile.member_id,
    tile.position,
    tile.geom,
    coalesce(tile.product, 'VNP46A4') as product,
    first_value(coalesce(tile.product, 'VNP46A4')) over (
      order by
        coalesce(region.code = any (tile.regions), true) desc,
        tile.year desc,
        coalesce(tile.collection, 1) desc,
        coalesce(tile.product, 'VNP46A4') collate "C" desc
    ) as first_product
  from radiance_tile as tile
  cross join region
)
select
  region.code as region_code,
  tile.section,
  tile.source_id,
  tile.name,
  tile.elevation_of,
  tile.release_id,
  tile.member_id,
  tile.position,
  tile.geom
from (
  select
    'terrain' as section,
    'tinitaly_dem' as source_id,
    name,
    elevation_of,
    release_id,
    member_id,
    position,
    geom
  from tinitaly_tile
  union all
  select
    'terrain',
    'copernicus_dem',
    name,
    elevation_of,
    release_id,
    member_id,
    position,
    geom
  from copernicus_tile
  union all
  select
    'solar',
    'gsa_pvout',
    name,
    null,
    release_id,
    member_id,
    position,
    geom
  from pvout_tile
  union all
  select
    'nightlights',
    'viirs_nightlights',
    name,
    null,
    release_id,
    member_id,
    position,
    geom
  from light
  where product = first_product
) as tile
cross join region
order by tile.section, tile.name collate "C", tile.member_id, tile.position;
