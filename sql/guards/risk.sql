-- purpose: hazards beside those that are published
-- reads: core.parcel, section.risk
-- writes: none
-- grain: one row per comune (empty: the region) that changed suspiciously: comune, was, now
-- crs: none

-- check: seismic_zones_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with a seismic zone
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_risk s using (fid)
  where s.seismic_zone is not null
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join risk s using (fid)
  where s.seismic_zone is not null
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

-- check: acceleration_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with ground acceleration
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_risk s using (fid)
  where s.pga_g is not null
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join risk s using (fid)
  where s.pga_g is not null
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

-- check: floods_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with a flood hazard
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_risk s using (fid)
  where s.flood_level is not null
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join risk s using (fid)
  where s.flood_level is not null
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

-- check: landslides_emptied
-- level: error
-- expects: a comune keeps at least half of its parcels with a landslide hazard
-- each: comune
with was as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from published_parcel p
  join published_risk s using (fid)
  where s.landslide_level is not null
  group by p.belfiore
),
now as (
  select
    p.belfiore as comune,
    count(*) as parcels
  from parcel p
  join risk s using (fid)
  where s.landslide_level is not null
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

-- check: acceleration_moved
-- level: error
-- expects: the median acceleration of the region moves by less than a quarter
with was as (
  select percentile_cont(0.5) within group (order by s.pga_g) as median
  from published_risk s
),
now as (
  select percentile_cont(0.5) within group (order by s.pga_g) as median
  from risk s
)
select
  '' as comune,
  w.median as was,
  n.median as now
from was w
cross join now n
where abs(n.median - w.median) > 0.25 * w.median;
