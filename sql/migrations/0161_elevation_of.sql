-- purpose: each elevation model says what its elevations are of
-- reads: core.raster_tile
-- writes: core.raster_tile
-- grain: one row per raster and section
-- crs: none

alter table core.raster_tile add column elevation_of text;
comment on column core.raster_tile.elevation_of is 'What the elevations of the raster are of: ground, or surface with trees and roofs; null: the raster has no elevations';

update core.raster_tile
set elevation_of = case source_id when 'tinitaly_dem' then 'ground' when 'copernicus_dem' then 'surface' end;
