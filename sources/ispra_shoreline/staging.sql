-- purpose: lines of the layer as published
-- reads: none
-- writes: staging.raw_shoreline_segment
-- grain: one row per feature of the file
-- crs: as the file says, in the SRID of each geometry

create unlogged table raw_shoreline_segment (
  member_id int4 not null,
  position int8 not null,
  dynamic text,
  avg_change_m_year float8,
  geom geometry not null
);
