-- purpose: checks the places of culture of a release
-- reads: layer.cultural_place
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: places_have_coordinates
-- level: warn
-- expects: at least a fifth of the places have coordinates in Italy; about 40 % of the published places have coordinates
select
  count(*) as places,
  count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) as in_italy
from cultural_place
having count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) < 0.2 * count(*);
