-- purpose: rows of the tiles as published
-- reads: none
-- writes: staging.raw_egms_cell
-- grain: one row per record of a CSV
-- crs: none; easting and northing are metres of EPSG:3035

create unlogged table raw_egms_cell (
  member_id int4 not null,
  position int8 not null,
  pid text not null,
  easting int4 not null,
  northing int4 not null,
  height_m float8 not null,
  rmse_mm float8 not null,
  mean_velocity_mm_year float8 not null,
  mean_velocity_std_mm_year float8 not null,
  acceleration_mm_year2 float8 not null
);
