-- purpose: checks of the buildings of a release
-- reads: layer.dbsn_building
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: dbsn_building_in_italy
-- level: error
-- expects: every building is in or around Italy, between 6 and 19 degrees east and 35 and 48 degrees north
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from dbsn_building
where not geom @ st_makeenvelope(6, 35, 19, 48, 4326);

-- check: dbsn_building_of_a_size
-- level: warn
-- expects: a building covers between 1 m² and 500,000 m², the size of the largest halls
select
  member_id,
  position,
  area_m2
from dbsn_building
where area_m2 < 1
  or area_m2 > 500000;

-- check: dbsn_use_is_a_code
-- level: warn
-- expects: uses are codes of digits, because text would count as not residential
select
  member_id,
  position,
  use
from dbsn_building
where use !~ '^[0-9]+$';
