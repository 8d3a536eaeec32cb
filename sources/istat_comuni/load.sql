-- purpose: loads the list of comuni; repeated rows become duplicates
-- reads: staging.raw_comune
-- writes: layer.comune_code
-- grain: one row per comune
-- crs: none

create table comune_code as
select
  r.release_id,
  raw.member_id,
  raw.position,
  raw.belfiore,
  raw.istat_code,
  raw.name,
  raw.name_other,
  raw.province_code,
  raw.province_historic_code,
  raw.province_name,
  raw.province_type,
  raw.sigla,
  raw.region_code,
  raw.region_name,
  raw.capoluogo,
  raw.code_107_2017,
  raw.code_110,
  raw.code_107,
  raw.code_103
from raw_comune as raw
cross join release as r
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);
