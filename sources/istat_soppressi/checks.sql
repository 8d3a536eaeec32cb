-- purpose: checks that the successors of suppressed comuni are consistent
-- reads: layer.comune_suppressed
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: not_its_own_successor
-- level: error
-- expects: no comune is its own successor
select istat_code, event_date
from comune_suppressed
where istat_code = successor_istat_code;

-- check: division_said
-- level: warn
-- expects: a comune with several successors on one day in a file is marked as divided
select
  file_id,
  istat_code,
  event_date,
  count(*) as successors
from comune_suppressed
join member using (member_id)
group by file_id, istat_code, event_date
having count(*) > 1 and not bool_and(divided);
