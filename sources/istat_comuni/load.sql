-- purpose: loads the list of comuni; repeated rows become duplicates
-- reads: staging.raw_comune
-- writes: layer.comune_code
-- grain: one row per comune
-- crs: none

create table comune_code as
select
  r.release_id,
  c.member_id,
  c.position,
  c.belfiore,
  c.istat_code,
  c.name,
  c.name_other,
  c.province_code,
  c.province_historic_code,
  c.province_name,
  c.province_type,
  c.sigla,
  c.region_code,
  c.region_name,
  c.capoluogo,
  c.code_107_2017,
  c.code_110,
  c.code_107,
  c.code_103
from (
  select
    raw_comune.*,
    row_number() over (partition by member.file_id, belfiore, istat_code order by raw_comune.member_id, raw_comune.position) as nth
  from raw_comune
  join member using (member_id)
) c
cross join release r
where c.nth = 1;

create table duplicate as
select
  d.member_id,
  d.position,
  'comune_repeated' as code
from (
  select
    raw_comune.member_id,
    raw_comune.position,
    row_number() over (partition by member.file_id, belfiore, istat_code order by raw_comune.member_id, raw_comune.position) as nth
  from raw_comune
  join member using (member_id)
) d
where d.nth > 1;
