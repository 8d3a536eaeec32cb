-- purpose: comuni in the region's files that are not in the ISTAT list, or belong to a different region in the list
-- version: 1
-- reads: core.parcel, core.access_point, layer.comune_code, ledger.file_place
-- writes: core.comune_found
-- incremental: content
-- grain: one row per comune
-- crs: none

-- Takes the names from the documents of the current files.
create table comune_found as
with listed as (
  select c.belfiore
  from comune_code c
  join region g on g.code = c.region_code
),
found as (
  select belfiore
  from parcel
  where belfiore not in (select belfiore from listed)
  union
  select belfiore
  from access_point
  where belfiore not in (select belfiore from listed)
),
called as (
  select distinct on (n.place)
    n.place as belfiore,
    n.name
  from ledger.file_place p
  join (select distinct file_id, rank from current_member) f using (file_id)
  cross join lateral unnest(p.places, p.names) as n (place, name)
  where n.name is not null
  order by n.place, f.rank, n.name collate "C"
)
select
  g.code as region_code,
  f.belfiore,
  k.name,
  g.name as region_name,
  c.region_code as listed_region_code
from found f
cross join region g
left join comune_code c on c.belfiore = f.belfiore
left join called k on k.belfiore = f.belfiore
order by f.belfiore collate "C";

alter table comune_found add primary key (region_code, belfiore);
alter table comune_found alter column region_name set not null;
-- serves: the name of a parcel's comune
create index on comune_found (belfiore);
