-- purpose: ground motion beside what is published
-- reads: core.parcel, section.subsidence
-- writes: none
-- grain: one row per comune (empty: the region) that changed suspiciously: comune, was, now
-- crs: none

-- check: motion_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with ground motion
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_subsidence s using (fid)
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join subsidence s using (fid)
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

-- check: velocity_moved
-- level: error
-- expects: the median velocity of the region moves by less than 3 mm/year
with was as (
  select percentile_cont(0.5) within group (order by s.velocity_mm_year) as median
  from published_subsidence s
),
now as (
  select percentile_cont(0.5) within group (order by s.velocity_mm_year) as median
  from subsidence s
)
select
  '' as comune,
  w.median as was,
  n.median as now
from was w
cross join now n
where abs(n.median - w.median) > 3;
