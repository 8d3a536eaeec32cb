-- purpose: the address archives that contain the parcels' access points
-- cites: anncsu_addresses
-- reads: core.access_point, section.address
-- writes: none
-- grain: one row per key and vintage
-- crs: none

with point as (
  select
    a.address_id,
    m.vintage
  from access_point a
  join current_member m on m.member_id = a.member_id
),
edition as (
  select distinct vintage
  from point
),
-- If all access points have the same vintage, the parcels are not read.
of_parcel as (
  select
    d.fid,
    array_agg(distinct p.vintage order by p.vintage) as vintages
  from address d
  join point p on p.address_id = d.address_id
  where (select count(*) > 1 from edition)
  group by d.fid
),
of_most as (
  select coalesce(mode() within group (order by vintages), (select array_agg(vintage) from edition)) as vintages
  from of_parcel
)
select
  '' as key,
  'anncsu_addresses' as source_id,
  v.vintage
from of_most o
cross join lateral unnest(o.vintages) as v (vintage)
union all
select
  p.fid::text,
  'anncsu_addresses',
  v.vintage
from of_parcel p
cross join of_most o
cross join lateral unnest(p.vintages) as v (vintage)
where p.vintages <> o.vintages;
