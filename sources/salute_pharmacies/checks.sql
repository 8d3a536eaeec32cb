-- purpose: checks the pharmacies of a release
-- reads: layer.pharmacy
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: some_pharmacies_are_open
-- level: error
-- expects: some pharmacies are open; if all are closed, the column of the end date has changed
select count(*) as pharmacies
from pharmacy
having count(*) > 0 and not bool_or(open);

-- check: pharmacies_in_degrees
-- level: warn
-- expects: at least half of the coordinates of open pharmacies are in Italy
select
  count(*) as stated,
  count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) as in_italy
from pharmacy
where open
  and lat is not null
  and lon is not null
having count(*) filter (where lat between 35 and 47.5 and lon between 6 and 19) < 0.5 * count(*);
