-- purpose: census sections beside those that are published
-- reads: core.parcel, section.demographics
-- writes: none
-- grain: one row per comune (empty: the region) that changed suspiciously: comune, was, now
-- crs: none

-- check: census_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with a census section
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_demographics s using (fid)
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join demographics s using (fid)
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
