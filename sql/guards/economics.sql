-- purpose: incomes and prices beside those that are published
-- reads: core.parcel, section.economics
-- writes: none
-- grain: one row per comune (empty: the region) that changed suspiciously: comune, was, now
-- crs: none

-- check: incomes_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with an income row
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_economics s using (fid)
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join economics s using (fid)
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

-- check: prices_moved
-- level: error
-- expects: the median residential price of the region moves by less than a quarter
with was as (
  select percentile_cont(0.5) within group (order by s.avg_residential_price_m2) as median
  from published_economics s
),
now as (
  select percentile_cont(0.5) within group (order by s.avg_residential_price_m2) as median
  from economics s
)
select
  '' as comune,
  w.median as was,
  n.median as now
from was w
cross join now n
where abs(n.median - w.median) > 0.25 * w.median;
