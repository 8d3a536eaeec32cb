-- purpose: the names of all Italy's comuni and provinces, as the search of addresses reads them
-- version: 1
-- reads: layer.comune_code, layer.comune_suppressed
-- writes: core.place_name
-- unit: italy
-- grain: one row per key, kind and place
-- crs: none

create table place_name as
with found as (
  select core.comune_key(name) as key, 'name' as kind, belfiore as code
  from comune_code
  union
  select core.comune_key(o.name), 'second', c.belfiore
  from comune_code c
  cross join lateral unnest(string_to_array(c.name_other, '/')) as o (name)
  union
  select core.comune_key(name), 'former', istat_code
  from comune_suppressed
  union
  -- Bolzano/Bozen is asked for by either name.
  select core.comune_key(n.name), 'province', c.province_code
  from comune_code c
  cross join lateral unnest(string_to_array(c.province_name, '/')) as n (name)
)
select
  key,
  kind,
  code
from found
where key <> ''
order by key collate "C", kind, code;

alter table place_name add primary key (key, kind, code);
-- serves: correction of a mistyped name
create index on place_name using gin (key gin_trgm_ops);
