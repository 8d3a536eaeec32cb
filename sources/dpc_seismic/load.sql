-- purpose: loads the seismic classification; repeated rows become duplicates
-- reads: staging.raw_seismic
-- writes: layer.seismic_zone
-- grain: one row per comune
-- crs: none

create table seismic_zone as
select
  r.release_id,
  s.member_id,
  s.position,
  s.istat_code,
  s.name,
  s.sigla,
  s.region_name,
  s.label,
  s.zone
from (
  select
    raw_seismic.*,
    row_number() over (partition by member.file_id, istat_code, label order by raw_seismic.member_id, raw_seismic.position) as nth
  from raw_seismic
  join member using (member_id)
) s
cross join release r
where s.nth = 1;

create table duplicate as
select
  d.member_id,
  d.position,
  'comune_repeated' as code
from (
  select
    raw_seismic.member_id,
    raw_seismic.position,
    row_number() over (partition by member.file_id, istat_code, label order by raw_seismic.member_id, raw_seismic.position) as nth
  from raw_seismic
  join member using (member_id)
) d
where d.nth > 1;
