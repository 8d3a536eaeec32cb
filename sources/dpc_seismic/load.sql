-- purpose: loads the seismic classification; repeated rows become duplicates
-- reads: staging.raw_seismic
-- writes: layer.seismic_zone
-- grain: one row per comune
-- crs: none

create table seismic_zone as
select
  r.release_id,
  raw.member_id,
  raw.position,
  raw.istat_code,
  raw.name,
  raw.sigla,
  raw.region_name,
  raw.label,
  raw.zone
from raw_seismic as raw
cross join release as r
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);
