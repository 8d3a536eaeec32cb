-- purpose: step of a build: the current comune of each cadastral code that parcels have
-- reads: core.parcel, core.comune_found, core.comune_register, layer.comune_suppressed
-- writes: none
-- grain: one row per cadastral code of the region's parcels
-- crs: none

-- The cadastre keeps the code of a merged comune for months or years. The list of suppressed comuni has no cadastral codes, so the name of the cadastre's
-- document finds the comune there. A name that leads to several current comuni leads to none.
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
)
select
  p.belfiore,
  coalesce(m.belfiore, p.belfiore) as current_belfiore
from (select distinct belfiore from parcel) p
left join comune_found c on c.belfiore = p.belfiore
  and c.listed_region_code is null
left join merged m on m.key = core.comune_key(c.name);
