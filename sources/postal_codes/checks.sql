-- purpose: checks a set of postal codes
-- reads: layer.comune_postal_code
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: comune_codes_agree
-- level: warn
-- expects: Each cadastral code is paired with only one ISTAT code.
select
  belfiore,
  count(distinct istat_code) as istat_codes
from comune_postal_code
where belfiore is not null
group by belfiore
having count(distinct istat_code) > 1
order by belfiore;
