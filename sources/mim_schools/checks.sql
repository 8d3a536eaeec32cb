-- purpose: what must hold of the schools of a release
-- reads: layer.school
-- writes: none
-- grain: offending rows
-- crs: none

-- check: one_school_year
-- level: warn
-- expects: a list is of one school year
select
  kind,
  count(distinct school_year) as school_years
from school
group by kind
having count(distinct school_year) > 1;

-- check: schools_have_addresses
-- level: warn
-- expects: half of the schools of a list have an address; without one none can be placed
select
  kind,
  count(*) as schools,
  count(address) as with_address
from school
group by kind
having count(address) < 0.5 * count(*);
