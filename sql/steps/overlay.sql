-- purpose: step of a build: the part of each parcel that the areas of a map cover
-- reads: none
-- writes: none
-- grain: overlay has one row per parcel, map and class
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

-- Before this step, the build file creates three relations:
--   overlay_parcel (fid, belfiore, area_m2, geom): the parcels
--   overlay_piece (map, class, release_id, member_id, position, geom): the areas of the maps, in pieces; pieces of one area do not overlap
--   overlay_silent (map, class, belfiore, member_id): files whose areas are ignored in a comune (class null: in all classes)
-- After this step, the build file reads the table `overlay`. An explanation also reads `overlay_area`.

-- Each piece is joined with the parcels in its box, so PostGIS prepares each piece only once. Parcels are stored in Hilbert order, so the parcels in a box are
-- close together on disk. The opposite order, looking up the pieces of each parcel, takes twenty times longer.

-- Box of all parcels, or null if there are no pieces. Only pieces in this box are joined.
create unlogged table overlay_box as
select
  st_setsrid(st_extent(geom)::geometry, 4326) as geom
from overlay_parcel
where exists (select from overlay_piece);

-- A parcel inside a piece needs no intersection. All other parcels are tested against the prepared piece before the overlap is measured.
create view overlay_share as
select
  parcel.fid,
  piece.map,
  piece.class,
  piece.release_id,
  piece.member_id,
  piece.position,
  parcel.area_m2 as parcel_m2,
  case
    when st_covers(piece.geom, parcel.geom) then parcel.area_m2
    when st_intersects(piece.geom, parcel.geom) then core.area_m2(st_intersection(piece.geom, parcel.geom, core.overlay_grid(1e-13)))
  end as shared_m2
from overlay_piece as piece
-- st_expand returns the box of the piece. The planner has no statistics and no index for this expression, so the join starts from pieces. With statistics,
-- PGlite's estimate of the number of pairs is invalid and stops the statement if a map has no feature near the parcels.
join overlay_parcel as parcel on parcel.geom && st_expand(piece.geom, 0)
where piece.geom && (select geom from overlay_box)
  and not exists (
    select
    from overlay_silent as silent
    where silent.map = piece.map
      and silent.belfiore = parcel.belfiore
      and silent.member_id = piece.member_id
      and (silent.class is null or silent.class = piece.class)
  )
-- offset 0 makes PostgreSQL measure before it sorts, so the sort contains no geometries.
offset 0;

create unlogged table overlay_area as
select
  fid,
  map,
  class,
  release_id,
  member_id,
  position,
  min(parcel_m2) as parcel_m2,
  bool_or(shared_m2 = parcel_m2) as is_whole,
  sum(shared_m2) as shared_m2
from overlay_share
where shared_m2 > 0
group by fid, map, class, release_id, member_id, position;

-- Areas of one class may overlap. The parts of a parcel under such areas are united into one geometry, unless one area covers the complete parcel.
create table overlay_union as
with several as (
  select
    fid,
    map,
    class
  from overlay_area
  group by fid, map, class
  having count(*) > 1
    and max(shared_m2) < min(parcel_m2)
),
shape as (
  select
    several.fid,
    several.map,
    several.class,
    parcel.belfiore,
    parcel.geom
  from several
  join overlay_parcel as parcel using (fid)
  offset 0
)
select
  shape.fid,
  shape.map,
  shape.class,
  core.area_m2(
    st_union(st_collectionextract(st_intersection(piece.geom, shape.geom, core.overlay_grid(1e-13)), 3), core.overlay_grid(1e-13))
  ) as shared_m2
from shape
-- A lateral join finds the pieces of several maps and releases with their indexes.
cross join lateral (
  select
    member_id,
    geom
  from overlay_piece
  where geom && shape.geom
    and map = shape.map
    and class is not distinct from shape.class
  offset 0
) as piece
where not exists (
  select
  from overlay_silent as silent
  where silent.map = shape.map
    and silent.belfiore = shape.belfiore
    and silent.member_id = piece.member_id
    and (silent.class is null or silent.class = shape.class)
)
group by shape.fid, shape.map, shape.class;

-- A common border must not count as an overlap. An area along a parcel's border may overlap the parcel by less than 1 m². The reasons are rounded coordinates
-- (1e-8 degree in the cadastre) and edges that are straight in a different projection. An overlap must therefore be at least 1 m², or half of a parcel smaller
-- than 2 m².
create unlogged table overlay as
select
  fid,
  map,
  class,
  member_id,
  is_whole,
  shared_m2,
  case
    when is_whole then 1
    else round(least(1, shared_m2 / parcel_m2)::numeric, 6)::float8
  end as share
from (
  select
    area.fid,
    area.map,
    area.class,
    min(area.member_id) as member_id,
    min(area.parcel_m2) as parcel_m2,
    bool_or(area.is_whole) as is_whole,
    case
      when bool_or(area.is_whole) then min(area.parcel_m2)
      else coalesce(min(united.shared_m2), max(area.shared_m2))
    end as shared_m2
  from overlay_area as area
  left join overlay_union as united
    on united.fid = area.fid
    and united.map = area.map
    and united.class is not distinct from area.class
  group by area.fid, area.map, area.class
) as found
where shared_m2 >= least(1, parcel_m2 / 2);
