-- purpose: checks the buildings of a release
-- reads: layer.dbsn_building
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: dbsn_use_is_a_code
-- level: warn
-- expects: uses are codes of digits; a text would count as not residential
select
  member_id,
  position,
  use
from dbsn_building
where use !~ '^[0-9]+$';
