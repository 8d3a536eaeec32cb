-- purpose: step of a build: the parcel of each point
-- reads: core.parcel
-- writes: none
-- grain: placed has at most one row per point
-- crs: EPSG:4326; distances are geodesic, in metres

-- Before this step, the build file creates the view `point` (id, belfiore, geom). After this step, the build file reads the view `placed`. A point belongs to
-- the land parcel that contains the point. On a common border, the smaller parcel is used, or the first by reference if the areas are equal. Any other point
-- belongs to the nearest land parcel of its comune within 15 m. An example of such a point is an access point in the parcel of a road.

-- Chooses the faster of two methods, which return the same result. If there are many points, points and parcels are joined by cells of 0.001 degrees (about
-- 100 m) in a hash table. This join takes 8 s, and lookups in an index of a million boxes take 25 s. If there are few points, each point is looked up in the
-- index.
create table point_method as
select
  -- True if the number of points in the box of all parcels is more than a tenth of the number of parcels.
  exists (
    select
    from point
    where geom && (select st_setsrid(st_extent(parcel.geom)::geometry, 4326) from parcel)
    offset (select count(*) / 10 from parcel)
  ) as by_cell;

create unlogged table point_inside as
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
  -- offset 0 makes PostgreSQL compute the box once instead of once per use.
  cross join lateral (select box3d(parcel.geom) as box offset 0) as around
  where parcel.kind = 'land'
),
-- Set-returning functions are in the select list for the reason given in sql/sections/subsidence/build.sql.
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
    id,
    geom,
    floor(st_x(geom) * 1000)::int4 as ix,
    floor(st_y(geom) * 1000)::int4 as iy
  from point
  where geom && (select st_setsrid(st_extent(parcel.geom)::geometry, 4326) from parcel)
  -- offset 0 makes PostgreSQL join by a hash of the cell instead of by the index.
  offset 0
),
held as (
  select
    place.id,
    cell.fid,
    cell.area_m2,
    cell.reference
  from place
  join cell
    on cell.ix = place.ix
    and cell.iy = place.iy
  where st_covers(cell.geom, place.geom)
    and (select by_cell from point_method)
  union all
  -- If the box of a parcel covers more than 4,096 cells, the index of the points is used. Such parcels are rare, and often have a wrong vertex.
  select
    inside.id,
    box.fid,
    box.area_m2,
    box.reference
  from box
  -- offset 0 makes PostgreSQL use the index.
  cross join lateral (
    select id
    from point
    where st_covers(box.geom, point.geom)
    offset 0
  ) as inside
  where box.is_large
    and (select by_cell from point_method)
  union all
  select
    point.id,
    parcel.fid,
    parcel.area_m2,
    parcel.reference
  from point
  join parcel on st_covers(parcel.geom, point.geom)
  where parcel.kind = 'land'
    and not (select by_cell from point_method)
)
select distinct on (id)
  id,
  fid
from held
order by id, round(area_m2::numeric, 4), reference collate "C";

analyze point_inside;

-- Finds the nearest land parcel of the comune within 15 m of each point that is in no land parcel. Reads only points near the given parcels. A distance of 15 m
-- is at most 0.000136° of latitude, because a degree has at least 110,574 m. In degrees of longitude, the distance is divided by the cosine of the latitude.
-- The search boxes are 10 % larger than these values. The exact test is the geodesic distance.
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
  -- offset 0 makes PostgreSQL use only the index of boxes. Otherwise it also reads the index entries of all parcels of the comune for each point.
  cross join lateral (
    select
      fid,
      belfiore,
      kind,
      reference,
      geom
    from parcel
    where geom && o.around
    offset 0
  ) p
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

create view placed as
select
  fid,
  id,
  true as inside,
  0::float8 as distance_m
from point_inside
union all
select
  fid,
  id,
  false as inside,
  distance_m
from point_near;
