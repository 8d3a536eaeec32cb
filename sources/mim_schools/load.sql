-- purpose: loads schools; a repeated school becomes a duplicate
-- reads: staging.raw_school
-- writes: layer.school
-- grain: one row per school
-- crs: none

create table ranked as
select
  raw.*,
  member.file_id,
  row_number() over (partition by member.file_id, raw.school_id order by raw.school_year desc, raw.member_id, raw.position) as nth
from raw_school as raw
join member using (member_id);

create table reach as
select
  file_id,
  count(distinct region_code)::int2 as regions
from ranked
group by file_id;

create table duplicate as
select
  member_id,
  position,
  'school_repeated' as code
from ranked
where nth > 1;

create table school as
select
  release.release_id,
  raw.*,
  reach.regions as regions_reached
from raw_school as raw
join member using (member_id)
join reach using (file_id)
cross join release
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);

drop table ranked;
drop table reach;
