-- purpose: polygons of the mosaic as published
-- reads: none
-- writes: staging.raw_landslide_hazard
-- grain: one row per feature of the file
-- crs: as the file says, in the SRID of each geometry

create unlogged table raw_landslide_hazard (
  member_id int4 not null,
  position int8 not null,
  class text,
  label text,
  geom geometry not null
);
