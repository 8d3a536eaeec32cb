-- purpose: schools, pharmacies and fuel stations of each parcel
-- version: 1
-- reads: core.parcel, core.point_of_interest
-- writes: section.poi
-- incremental: rows of parcels without a change within 35 m
-- grain: one row per parcel and point, at most 50 per parcel
-- crs: EPSG:4326; distances geodesic, in metres

-- As access points are: a point belongs to the parcel that it lies in, on a common border to the smaller; else to the nearest land parcel of its comune within 15 m.
create table point as
select
  id,
  belfiore,
  geom
from point_of_interest
where geom is not null
  and category <> 'culture';

analyze point;

create table point_inside as
select distinct on (a.id)
  a.id,
  p.fid
from point a
join parcel p on st_covers(p.geom, a.geom)
where p.kind = 'land'
order by a.id, round(p.area_m2::numeric, 4), p.reference collate "C";

analyze point_inside;

-- 15 m are at most 0.000136° of latitude and that over the cosine of the latitude in longitude; the boxes are a tenth wider, the geodesic distance decides.
create table point_near as
with outside as materialized (
  select
    a.id,
    a.belfiore,
    a.geom,
    st_expand(a.geom, 0.00015 / cos(radians(st_y(a.geom))), 0.00015) as around
  from point a
  where a.geom && (select st_expand(st_setsrid(st_extent(parcel.geom)::geometry, 4326), 0.0003) from parcel)
    and not exists (select from point_inside i where i.id = a.id)
),
measured as (
  select
    o.id,
    p.fid,
    p.reference,
    round(st_distance(p.geom::geography, o.geom::geography)::numeric, 2)::float8 as distance_m
  from outside o
  join parcel p on p.geom && o.around
  where p.kind = 'land'
    and p.belfiore = o.belfiore
)
select distinct on (id)
  id,
  fid,
  distance_m
from measured
where distance_m <= 15
order by id, distance_m, reference collate "C";

create table poi as
select
  r.fid,
  r.ordinal,
  r.id,
  r.inside,
  r.distance_m
from (
  select
    f.fid,
    (row_number() over (partition by f.fid order by a.category collate "C", a.name collate "C", a.id collate "C"))::int2 as ordinal,
    f.id,
    f.inside,
    f.distance_m
  from (
    select fid, id, true as inside, 0::float8 as distance_m
    from point_inside
    union all
    select fid, id, false as inside, distance_m
    from point_near
  ) f
  join point_of_interest a on a.id = f.id
) r
where r.ordinal <= 50
order by r.fid, r.ordinal;

alter table poi add primary key (fid, ordinal);
alter table poi alter column id set not null;
alter table poi alter column inside set not null;
alter table poi alter column distance_m set not null;
