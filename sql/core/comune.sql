-- purpose: the current comuni
-- version: 1
-- reads: layer.comune_code
-- writes: core.comune
-- scope: italy
-- grain: one row per comune
-- crs: none

create table comune as
select
  belfiore,
  istat_code,
  name,
  name_other,
  province_code,
  province_name,
  sigla,
  region_code
from comune_code
order by belfiore;

alter table comune add primary key (belfiore);
alter table comune alter column istat_code set not null;
alter table comune alter column name set not null;
alter table comune alter column province_code set not null;
alter table comune alter column province_name set not null;
alter table comune alter column region_code set not null;
