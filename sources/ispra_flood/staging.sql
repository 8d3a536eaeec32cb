-- purpose: polygons of the mosaic as published
-- reads: none
-- writes: staging.raw_flood_hazard
-- grain: one row per feature of a shapefile
-- crs: as the file's .prj says, in the SRID of each geometry

create unlogged table raw_flood_hazard (
  member_id int4 not null,
  position int8 not null,
  class text,
  scenario text,
  geom geometry not null
);
