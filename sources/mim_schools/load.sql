-- purpose: loads schools; a school repeated in a file becomes a duplicate
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
  r.member_id,
  r.position,
  r.kind,
  r.school_year,
  r.region_code,
  r.province,
  r.school_id,
  r.name,
  r.address,
  r.belfiore,
  r.comune,
  r.type,
  r.comune_key,
  r.street_types,
  r.street_words,
  r.number,
  r.exponent,
  r.colour,
  reach.regions as regions_reached
from ranked as r
join reach using (file_id)
cross join release
where r.nth = 1;

drop table ranked;
drop table reach;
