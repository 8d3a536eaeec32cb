-- purpose: checks a set of postal codes
-- reads: layer.comune_postal_code
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: comune_codes_agree
-- level: warn
-- expects: In a file, each cadastral code is paired with only one ISTAT code.
select
  file_id,
  belfiore,
  count(distinct istat_code) as istat_codes
from comune_postal_code
join member using (member_id)
where belfiore is not null
group by file_id, belfiore
having count(distinct istat_code) > 1
order by file_id, belfiore;
