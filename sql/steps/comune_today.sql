-- purpose: step of a build: the current comune of each cadastral code of parcels
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.comune_suppressed, ledger.file_place
-- writes: none
-- grain: one row per cadastral code of the region's parcels
-- crs: none

-- The cadastre keeps the code of a merged comune for months or years. The list of suppressed comuni has no cadastral codes, so the comune is found by the name
-- in the cadastre's document. A name that matches several current comuni is not used.
create table comune_today as
with merged as (
  select
    core.comune_key(x.name) as key,
    min(r.belfiore) as belfiore
  from comune_suppressed x
  join comune_register r on r.old_istat_code = x.istat_code
  where r.old_istat_code <> r.istat_code
  group by core.comune_key(x.name)
  having count(distinct r.belfiore) = 1
    and not bool_or(r.divided)
),
unlisted as (
  select distinct belfiore
  from parcel
  where belfiore not in (select belfiore from comune_code)
),
called as (
  select distinct on (n.place)
    n.place as belfiore,
    n.name
  from file_place p
  join (select distinct file_id, rank from current_member) f using (file_id)
  cross join lateral unnest(p.places, p.names) as n (place, name)
  where n.name is not null
    and n.place in (select belfiore from unlisted)
  order by n.place, f.rank, n.name collate "C"
)
select
  p.belfiore,
  coalesce(m.belfiore, p.belfiore) as current_belfiore
from (select distinct belfiore from parcel) p
left join called c on c.belfiore = p.belfiore
left join merged m on m.key = core.comune_key(c.name);
