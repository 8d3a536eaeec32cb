-- purpose: parcels beside those that are published: none may vanish unnoticed
-- reads: core.parcel
-- writes: none
-- grain: one row per comune that changed suspiciously: comune, was, now
-- crs: none

-- check: parcels_lost
-- level: error
-- expects: a comune keeps at least 90 % of its parcels
-- each: comune
with was as (
  select
    belfiore as comune,
    count(*) as parcels
  from published_parcel
  group by belfiore
),
now as (
  select
    belfiore as comune,
    count(*) as parcels
  from parcel
  group by belfiore
)
select
  w.comune,
  w.parcels as was,
  coalesce(n.parcels, 0) as now
from was w
left join now n using (comune)
where coalesce(n.parcels, 0) < 0.9 * w.parcels
order by w.comune;

-- check: ground_lost
-- level: error
-- expects: the parcels of a comune cover 90 to 110 % of the ground that they covered
-- each: comune
with was as (
  select
    belfiore as comune,
    sum(area_m2) as m2
  from published_parcel
  group by belfiore
),
now as (
  select
    belfiore as comune,
    sum(area_m2) as m2
  from parcel
  group by belfiore
)
select
  w.comune,
  round(w.m2) as was,
  round(n.m2) as now
from was w
join now n using (comune)
where n.m2 not between 0.9 * w.m2 and 1.1 * w.m2
order by w.comune;
