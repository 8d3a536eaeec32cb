-- purpose: checks the schools of a release
-- reads: layer.school
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: one_school_year
-- level: warn
-- expects: each list covers only one school year
select
  file_id,
  kind,
  count(distinct school_year) as school_years
from school
join member using (member_id)
group by file_id, kind
having count(distinct school_year) > 1;

-- check: schools_have_addresses
-- level: warn
-- expects: at least half of the schools of a list have an address; a school without an address cannot be located
select
  file_id,
  kind,
  count(*) as schools,
  count(address) as with_address
from school
join member using (member_id)
group by file_id, kind
having count(address) < 0.5 * count(*);
