-- purpose: vertical ground motion, one row per 100 m cell, and the delivered tiles
-- reads: none
-- writes: layer.egms_cell, layer.egms_tile
-- grain: one row per cell that was measured and file; one row per tile and file
-- crs: none; a cell is the square [100·ix, 100·ix + 100) × [100·iy, 100·iy + 100) of EPSG:3035

create table layer.egms_cell (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  ix int4 not null,
  iy int4 not null,
  mean_velocity_mm_year float8 not null,
  mean_velocity_std_mm_year float8 not null,
  acceleration_mm_year2 float8 not null,
  rmse_mm float8 not null,
  height_m float8 not null,
  pid text not null
) partition by list (release_id);

comment on table layer.egms_cell is 'EGMS L3 Ortho, vertical component: mean motion of the 100 m cells with measurement points. A cell without a row was not measured, so its motion is unknown.';
comment on column layer.egms_cell.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.egms_cell.member_id is 'Member that the row was read from (ledger.member): the CSV.';
comment on column layer.egms_cell.position is 'Line of the CSV; the header is line 1.';
comment on column layer.egms_cell.ix is 'Column of the cell: floor(easting / 100 m), EPSG:3035.';
comment on column layer.egms_cell.iy is 'Row of the cell: floor(northing / 100 m), EPSG:3035.';
comment on column layer.egms_cell.mean_velocity_mm_year is 'Mean vertical velocity over the years of the release, mm/year. Positive is uplift, negative is sinking.';
comment on column layer.egms_cell.mean_velocity_std_mm_year is 'Standard deviation of the velocity, mm/year.';
comment on column layer.egms_cell.acceleration_mm_year2 is 'Vertical acceleration, mm/year². Positive is upwards.';
comment on column layer.egms_cell.rmse_mm is 'Residual of the series after a third-order polynomial and the seasonal term, mm.';
comment on column layer.egms_cell.height_m is 'Orthometric height of the cell, metres.';
comment on column layer.egms_cell.pid is 'The publisher''s identifier of the cell in this release: 10 base62 characters, case sensitive.';

create table layer.egms_tile (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  tile_x int4 not null,
  tile_y int4 not null
) partition by list (release_id);

comment on table layer.egms_tile is 'Tiles of 100 km in the release. A cell without a row was not measured if it is inside a tile, and is unknown outside the tiles.';
comment on column layer.egms_tile.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.egms_tile.member_id is 'Member that the row was read from (ledger.member): the tile''s CSV.';
comment on column layer.egms_tile.position is 'Line of the CSV that determined the tile: 1 (the header) if the file name has the tile, otherwise the line of its first cell.';
comment on column layer.egms_tile.tile_x is 'Column of the tile: easting / 100 km, EPSG:3035 (46 of E46N19).';
comment on column layer.egms_tile.tile_y is 'Row of the tile: northing / 100 km, EPSG:3035 (19 of E46N19).';
