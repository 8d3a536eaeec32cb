-- purpose: checks the flood hazard areas of a release
-- reads: layer.flood_hazard, layer.flood_coverage
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: flood_scenarios_complete
-- level: warn
-- expects: a release contains the three scenarios P1, P2 and P3
select
  class
from (values ('P1'), ('P2'), ('P3')) as expected (class)
where not exists (select from flood_coverage where flood_coverage.class = expected.class);

-- check: flood_class_missing
-- level: warn
-- expects: every area states its class
select
  member_id,
  position
from flood_hazard
where class = 'HPH';

-- check: flood_coverage_known
-- level: warn
-- expects: the edition is one for which the provinces without the P3 scenario are known (indicators of 2020)
select
  vintage
from release
where vintage <> '2020';
