-- purpose: loads pharmacies; if a pharmacy has several open rows, the newest row is used
-- reads: staging.raw_pharmacy
-- writes: layer.pharmacy
-- grain: one row per pharmacy and period of validity
-- crs: none

create table ranked as
select
  raw.*,
  member.file_id,
  raw.open and row_number() over (
    partition by member.file_id, raw.pharmacy_id, raw.open
    order by raw.opened_on desc nulls last, raw.member_id, raw.position
  ) > 1 as repeats
from raw_pharmacy as raw
join member using (member_id);

create table reach as
select
  file_id,
  count(distinct core.region_of_istat_code(istat_code))::int2 as regions
from ranked
group by file_id;

create table duplicate as
select
  member_id,
  position,
  'pharmacy_repeated' as code
from ranked
where repeats;

create table pharmacy as
select
  release.release_id,
  raw.*,
  reach.regions as regions_reached
from raw_pharmacy as raw
join member using (member_id)
join reach using (file_id)
cross join release
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position);

drop table ranked;
drop table reach;
