-- purpose: checks that the codes of the list of comuni are consistent
-- reads: layer.comune_code
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: belfiore_unique
-- level: error
-- expects: each cadastral code belongs to only one comune in a file
select
  file_id,
  belfiore,
  array_agg(istat_code order by istat_code) as istat_codes
from comune_code
join member using (member_id)
group by file_id, belfiore
having count(*) > 1;

-- check: istat_code_unique
-- level: error
-- expects: each ISTAT code belongs to only one comune in a file
select
  file_id,
  istat_code,
  array_agg(belfiore order by belfiore) as belfiore_codes
from comune_code
join member using (member_id)
group by file_id, istat_code
having count(*) > 1;

-- check: istat_code_in_its_province
-- level: error
-- expects: each ISTAT code begins with the code of the historic province
select belfiore, istat_code, province_historic_code
from comune_code
where left(istat_code, 3) <> province_historic_code;

-- check: province_consistent
-- level: error
-- expects: each province has one name, one car plate code and one region in a file
select
  m.file_id,
  c.province_code,
  count(distinct c.province_name) as names,
  count(distinct c.sigla) as sigle,
  count(distinct c.region_code) as regions
from comune_code c
join member m using (member_id)
group by m.file_id, c.province_code
having count(distinct c.province_name) > 1 or count(distinct c.sigla) > 1 or count(distinct c.region_code) > 1;

-- check: region_consistent
-- level: error
-- expects: each region has one name in a file
select
  m.file_id,
  c.region_code,
  count(distinct c.region_name) as names
from comune_code c
join member m using (member_id)
group by m.file_id, c.region_code
having count(distinct c.region_name) > 1;

-- check: letters_lost
-- level: warn
-- expects: no name has lost letters in the publisher's encoding
select istat_code, name, name_other
from comune_code
where name like '%?%' or name_other like '%?%';
