-- purpose: the editions of the shoreline with the segments of parcels
-- cites: ispra_shoreline
-- reads: core.parcel, core.shore_piece, section.coastal_erosion
-- writes: none
-- grain: one row per key and vintage
-- crs: distances are geodesic (geography)

with piece as (
  select
    s.dynamic,
    s.geom,
    m.vintage
  from shore_piece s
  join current_member m on m.member_id = s.member_id
  where s.dynamic is not null
),
-- If all pieces have the same vintage, the parcels are not read. Otherwise, the vintages of a parcel are those of the pieces whose distance from the parcel
-- equals the stored distance.
of_parcel as (
  select
    c.fid,
    array_agg(distinct s.vintage order by s.vintage) as vintages
  from coastal_erosion c
  join parcel p on p.fid = c.fid
  join piece s on s.dynamic = c.dynamic
    and abs(st_distance(p.geom::geography, s.geom::geography) - c.distance_m) <= 0.006
  where (select count(distinct vintage) > 1 from piece)
  group by c.fid
),
of_most as (
  select coalesce(mode() within group (order by vintages), (select array_agg(distinct vintage) from piece)) as vintages
  from of_parcel
)
select
  '' as key,
  'ispra_shoreline' as source_id,
  v.vintage
from of_most o
cross join lateral unnest(o.vintages) as v (vintage)
union all
select
  p.fid::text,
  'ispra_shoreline',
  v.vintage
from of_parcel p
cross join of_most o
cross join lateral unnest(p.vintages) as v (vintage)
where p.vintages <> o.vintages;
