-- purpose: the regions in force
-- reads: layer.comune_code, layer.boundary
-- writes: core.region
-- unit: italy
-- grain: one row per region
-- crs: none

create table region as
select
  c.region_code as code,
  min(c.region_name) as name,
  (
    select sum(b.area_m2) / 1e6
    from boundary b
    join comune_code m on m.istat_code = b.code
    where b.kind = 'comune'
      and m.region_code = c.region_code
  ) as area_km2
from comune_code c
group by c.region_code
order by c.region_code;

alter table region add primary key (code);
alter table region alter column name set not null;
