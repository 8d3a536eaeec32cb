-- purpose: checks that stations are distinguishable
-- reads: layer.station
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: one_place_per_name
-- level: warn
-- expects: two stations with the same name are not at the same position
select name
from station
group by name, geom
having count(*) > 1;
