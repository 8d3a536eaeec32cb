-- purpose: the current provinces
-- version: 1
-- reads: layer.comune_code
-- writes: core.province
-- scope: italy
-- grain: one row per province
-- crs: none

create table province as
select
  province_code as code,
  min(province_name) as name,
  min(sigla) as abbreviation,
  min(region_code) as region_code
from comune_code
group by province_code
order by province_code;

alter table province add primary key (code);
alter table province alter column name set not null;
alter table province alter column region_code set not null;
