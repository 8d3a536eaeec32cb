-- purpose: loads the list of suppressed comuni; repeated rows become duplicates
-- reads: staging.raw_suppressed
-- writes: layer.comune_suppressed
-- grain: one row per suppressed comune, event and comune that took over a part
-- crs: none

create table comune_suppressed as
select
  r.release_id,
  s.member_id,
  s.position,
  s.istat_code,
  s.name,
  s.province_code,
  s.sigla,
  s.divided,
  s.event_date,
  s.successor_istat_code,
  s.successor_name
from (
  select
    raw_suppressed.*,
    row_number() over (partition by member.file_id, istat_code, event_date, successor_istat_code, successor_name order by raw_suppressed.member_id, raw_suppressed.position) as nth
  from raw_suppressed
  join member using (member_id)
) s
cross join release r
where s.nth = 1;

create table duplicate as
select
  d.member_id,
  d.position,
  'event_repeated' as code
from (
  select
    raw_suppressed.member_id,
    raw_suppressed.position,
    row_number() over (partition by member.file_id, istat_code, event_date, successor_istat_code, successor_name order by raw_suppressed.member_id, raw_suppressed.position) as nth
  from raw_suppressed
  join member using (member_id)
) d
where d.nth > 1;
