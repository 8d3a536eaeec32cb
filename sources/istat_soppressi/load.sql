-- purpose: loads the list of suppressed comuni; repeated rows become duplicates
-- reads: staging.raw_suppressed
-- writes: layer.comune_suppressed
-- grain: one row per suppressed comune, event and comune that took over a part
-- crs: none

create table comune_suppressed as
select
  r.release_id,
  raw.member_id,
  raw.position,
  raw.istat_code,
  raw.name,
  raw.province_code,
  raw.sigla,
  raw.divided,
  raw.event_date,
  raw.successor_istat_code,
  raw.successor_name
from raw_suppressed as raw
cross join release as r
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);
