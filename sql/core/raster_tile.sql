-- purpose: the rasters that are loaded, by the section that has values of them
-- version: 2
-- reads: layer.tinitaly_tile, layer.copernicus_tile, layer.pvout_tile, layer.radiance_tile
-- writes: core.raster_tile
-- grain: one row per raster and section
-- crs: EPSG:4326

create table raster_tile as
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
  from radiance_tile
) as tile
cross join region
order by tile.section, tile.name collate "C", tile.member_id, tile.position;
