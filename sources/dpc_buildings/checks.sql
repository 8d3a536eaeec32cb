-- purpose: checks of the structural aggregates of a release
-- reads: layer.dpc_building
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: dpc_building_in_italy
-- level: error
-- expects: every aggregate is in or around Italy, between 6 and 19 degrees east and 35 and 48 degrees north
select
  member_id,
  position,
  aggregate_id,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from dpc_building
where not geom @ st_makeenvelope(6, 35, 19, 48, 4326);

-- check: dpc_building_of_a_size
-- level: warn
-- expects: an aggregate covers between 1 m² and 500,000 m², the size of the largest halls
select
  member_id,
  position,
  aggregate_id,
  area_m2
from dpc_building
where area_m2 < 1
  or area_m2 > 500000;
