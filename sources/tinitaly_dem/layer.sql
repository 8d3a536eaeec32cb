-- purpose: TINITALY by reference: the extent and format of each raster, not its cells
-- reads: none
-- writes: layer.tinitaly_tile
-- grain: one row per raster
-- crs: EPSG:4326

create table layer.tinitaly_tile (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  name text not null,
  epsg int4 not null,
  width int4 not null,
  height int4 not null,
  west float8 not null,
  north float8 not null,
  cell_width float8 not null,
  cell_height float8 not null,
  no_data text,
  sample_type text not null,
  block_width int4 not null,
  block_height int4 not null,
  cells int8 not null,
  min_value float8,
  max_value float8,
  elevation_of text not null default 'ground',
  geom geometry(polygon, 4326) not null
) partition by list (release_id);

comment on table layer.tinitaly_tile is 'Tiles of 50 km of TINITALY: elevation of the ground in metres above the sea, cells of 10 m. The cells stay in the file and are read when parcels are built.';
comment on column layer.tinitaly_tile.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.tinitaly_tile.member_id is 'Member with the cells (ledger.member): the file, or an entry of a zip.';
comment on column layer.tinitaly_tile.position is 'Always 1, because a file contains one raster.';
comment on column layer.tinitaly_tile.name is 'Name of the raster as published, without its extension. Where rasters overlap, the first by name counts.';
comment on column layer.tinitaly_tile.epsg is 'EPSG number of the CRS of the cells.';
comment on column layer.tinitaly_tile.width is 'Number of cells from west to east.';
comment on column layer.tinitaly_tile.height is 'Number of cells from north to south.';
comment on column layer.tinitaly_tile.west is 'Western edge of the first column, in units of the CRS.';
comment on column layer.tinitaly_tile.north is 'Northern edge of the first row, in units of the CRS.';
comment on column layer.tinitaly_tile.cell_width is 'Width of a cell, in units of the CRS.';
comment on column layer.tinitaly_tile.cell_height is 'Height of a cell, in units of the CRS. Rows run from north to south.';
comment on column layer.tinitaly_tile.no_data is 'Value that the file uses for no data; null if the file declares none, or NaN.';
comment on column layer.tinitaly_tile.sample_type is 'Type of the numbers in the file.';
comment on column layer.tinitaly_tile.block_width is 'Number of columns of the blocks in which the file is stored.';
comment on column layer.tinitaly_tile.block_height is 'Number of rows of these blocks.';
comment on column layer.tinitaly_tile.cells is 'Number of cells with a value, in blocks that overlap Italy.';
comment on column layer.tinitaly_tile.min_value is 'Lowest value of these cells, metres; null if no cell has a value.';
comment on column layer.tinitaly_tile.max_value is 'Highest value of these cells, metres; null if no cell has a value.';
comment on column layer.tinitaly_tile.elevation_of is 'Always ground: the elevations are those of the ground.';
comment on column layer.tinitaly_tile.geom is 'Extent of the raster, EPSG:4326.';
