-- purpose: checks that each comune has one seismic class
-- reads: layer.seismic_zone
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: one_zone_per_comune
-- level: error
-- expects: a comune has one label in a file
select
  file_id,
  istat_code,
  array_agg(label order by label collate "C") as labels
from seismic_zone
join member using (member_id)
group by file_id, istat_code
having count(*) > 1;

-- check: zone_is_in_its_label
-- level: error
-- expects: the zone is the smallest digit of the label
select istat_code, label, zone
from seismic_zone
where position(zone::text in label) = 0
  or exists (select from generate_series(1, zone - 1) as worse where position(worse::text in label) > 0);
