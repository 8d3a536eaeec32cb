-- purpose: the current regions
-- version: 1
-- reads: layer.comune_code, layer.boundary
-- writes: core.region
-- scope: italy
-- grain: one row per region
-- crs: none

-- A boundary of an earlier year has the ISTAT code of that year, so former codes are matched too. A current code identifies its comune, and a former code
-- identifies the last comune with this code.
create table region as
with numbering as (
  select
    n.nth,
    n.code,
    c.istat_code,
    c.region_code
  from comune_code c
  cross join lateral (
    values (1, c.istat_code), (2, c.code_107_2017), (3, c.code_110), (4, c.code_107), (5, c.code_103)
  ) as n (nth, code)
  where n.code is not null
),
meaning as (
  select distinct on (code)
    code,
    istat_code,
    region_code
  from numbering
  order by code, nth, region_code, istat_code
),
whole as (
  select
    code::int2 as region_code,
    area_m2 / 1e6 as area_km2
  from boundary
  where kind = 'regione'
    and code ~ '^[0-9]{1,2}$'
),
-- If a region has no outline, its area is the sum of the areas of its comuni, provided that all comuni have an outline.
summed as (
  select
    m.region_code,
    case
      when count(distinct f.istat_code) = (select count(*) from comune_code c where c.region_code = m.region_code) then sum(b.area_m2) / 1e6
    end as area_km2
  from boundary b
  join meaning m on m.code = b.code
  left join comune_code f on f.istat_code = m.istat_code
  where b.kind = 'comune'
  group by m.region_code
)
select
  c.region_code as code,
  min(c.region_name) as name,
  coalesce(min(w.area_km2), min(s.area_km2)) as area_km2
from comune_code c
left join whole w on w.region_code = c.region_code
left join summed s on s.region_code = c.region_code
group by c.region_code
order by c.region_code;

alter table region add primary key (code);
alter table region alter column name set not null;
