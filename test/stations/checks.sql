-- purpose: stations can be told apart
-- reads: layer.station
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: one_place_per_name
-- level: warn
-- expects: two stations of one name are not in one place
select name
from station
group by name, geom
having count(*) > 1;
