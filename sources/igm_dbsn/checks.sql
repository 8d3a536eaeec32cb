-- purpose: checks the buildings of a release
-- reads: layer.dbsn_building
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: dbsn_use_is_a_code
-- level: warn
-- expects: every use is a code of digits, because any other text would count as not residential
select
  member_id,
  position,
  use
from dbsn_building
where use !~ '^[0-9]+$';
