-- purpose: shoreline segments beside those that are published
-- reads: core.parcel, section.coastal_erosion
-- writes: none
-- grain: one row per comune (empty: the region) that changed suspiciously: comune, was, now
-- crs: none

-- check: coast_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with a shoreline segment near
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_coastal_erosion s using (fid)
  where s.ordinal = 1
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join coastal_erosion s using (fid)
  where s.ordinal = 1
  group by p.belfiore
)
select
  w.comune,
  w.parcels as was,
  coalesce(n.parcels, 0) as now
from was w
left join now n using (comune)
where w.parcels >= 20
  and coalesce(n.parcels, 0) < 0.5 * w.parcels
order by w.comune;
