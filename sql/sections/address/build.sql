-- purpose: the access points that belong to each parcel
-- version: 2
-- reads: core.parcel, core.access_point
-- writes: section.address
-- incremental: rows of parcels without a change within 35 m
-- grain: one row per parcel and access point, at most 20 per parcel
-- crs: EPSG:4326; distances geodesic, in metres

-- Access points stand on the street front and often fall into the road's parcel: those are given to the nearest land parcel
-- of their comune, within 15 m. A point on a common border belongs to one parcel, the smaller; of equals, the first by reference.
-- Parcels and points meet in cells of a thousandth of a degree, some 100 m: found by two integers in a hash table, where a look-up in an index of a
-- million boxes takes longer than the test of the parcel itself (25 s; this way 8 s). A parcel that reaches over more than 4,096 cells, be it by one stray
-- corner, asks the index.
create table point_inside as
with box as not materialized (
  select
    parcel.fid,
    parcel.area_m2,
    parcel.reference,
    parcel.geom,
    floor(st_xmin(around.box) * 1000)::int4 as ix_first,
    floor(st_xmax(around.box) * 1000)::int4 as ix_last,
    floor(st_ymin(around.box) * 1000)::int4 as iy_first,
    floor(st_ymax(around.box) * 1000)::int4 as iy_last,
    (st_xmax(around.box) - st_xmin(around.box)) * (st_ymax(around.box) - st_ymin(around.box)) > 4096e-6 as is_large
  from parcel
  cross join lateral (select box3d(parcel.geom) as box) as around
  where parcel.kind = 'land'
),
-- Set-returning functions in the select list, as in the section subsidence.
box_column as (
  select
    fid,
    area_m2,
    reference,
    geom,
    iy_first,
    iy_last,
    generate_series(ix_first, ix_last) as ix
  from box
  where not is_large
),
cell as (
  select
    fid,
    area_m2,
    reference,
    geom,
    ix,
    generate_series(iy_first, iy_last) as iy
  from box_column
),
place as (
  select
    address_id,
    geom,
    floor(st_x(geom) * 1000)::int4 as ix,
    floor(st_y(geom) * 1000)::int4 as iy
  from access_point
  where geom && (select st_setsrid(st_extent(parcel.geom)::geometry, 4326) from parcel)
  -- offset 0: hashed by its cell, not looked up by its index.
  offset 0
),
held as (
  select
    place.address_id,
    cell.fid,
    cell.area_m2,
    cell.reference
  from place
  join cell
    on cell.ix = place.ix
    and cell.iy = place.iy
  where st_covers(cell.geom, place.geom)
  union all
  select
    inside.address_id,
    box.fid,
    box.area_m2,
    box.reference
  from box
  -- offset 0: by the index of the points; there are few such parcels.
  cross join lateral (
    select address_id
    from access_point
    where st_covers(box.geom, access_point.geom)
    offset 0
  ) as inside
  where box.is_large
)
select distinct on (address_id)
  address_id,
  fid
from held
order by address_id, round(area_m2::numeric, 4), reference collate "C";

analyze point_inside;

-- Only accesses near parcels are asked for: all of them, unless the parcels are some of the region's.
-- 15 m are at most 0.000136° of latitude (110,574 m a degree at least) and that over the cosine of the latitude in longitude;
-- the boxes are a tenth wider, the geodesic distance decides.
create table point_near as
with outside as materialized (
  select
    a.address_id,
    a.belfiore,
    a.geom,
    st_expand(a.geom, 0.00015 / cos(radians(st_y(a.geom))), 0.00015) as around
  from access_point a
  where a.geom && (select st_expand(st_setsrid(st_extent(parcel.geom)::geometry, 4326), 0.0003) from parcel)
    and not exists (select from point_inside i where i.address_id = a.address_id)
),
measured as (
  select
    o.address_id,
    p.fid,
    p.reference,
    round(st_distance(p.geom::geography, o.geom::geography)::numeric, 2)::float8 as distance_m
  from outside o
  join parcel p on p.geom && o.around
  where p.kind = 'land'
    and p.belfiore = o.belfiore
)
select distinct on (address_id)
  address_id,
  fid,
  distance_m
from measured
where distance_m <= 15
order by address_id, distance_m, reference collate "C";

create table address as
select
  r.fid,
  r.ordinal,
  r.address_id,
  r.inside,
  r.distance_m
from (
  select
    f.fid,
    (row_number() over (partition by f.fid order by f.inside desc, f.distance_m, f.address_id))::int2 as ordinal,
    f.address_id,
    f.inside,
    f.distance_m
  from (
    select fid, address_id, true as inside, 0::float8 as distance_m
    from point_inside
    union all
    select fid, address_id, false as inside, distance_m
    from point_near
  ) f
) r
where r.ordinal <= 20
order by r.fid, r.ordinal;

alter table address add primary key (fid, ordinal);
alter table address alter column address_id set not null;
alter table address alter column inside set not null;
alter table address alter column distance_m set not null;
