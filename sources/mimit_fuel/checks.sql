-- purpose: checks the stations of a release
-- reads: layer.fuel_station
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: stations_have_coordinates
-- level: warn
-- expects: at least half of the stations have coordinates; otherwise columns may have moved
select
  count(*) as stations,
  count(*) filter (where lat is not null and lon is not null) as with_coordinates
from fuel_station
having count(*) filter (where lat is not null and lon is not null) < 0.5 * count(*);

-- check: stations_in_degrees
-- level: warn
-- expects: at least half of the coordinates are in Italy
select
  count(*) as reported,
  count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) as in_italy
from fuel_station
where lat is not null
  and lon is not null
having count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) < 0.5 * count(*);
