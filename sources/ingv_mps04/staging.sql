-- purpose: nodes of the grid as published
-- reads: none
-- writes: staging.raw_pga_node
-- grain: one row per line of the file
-- crs: none; lon and lat are degrees

create unlogged table raw_pga_node (
  member_id int4 not null,
  position int8 not null,
  lon float8 not null,
  lat float8 not null,
  ag_g float8 not null
);
