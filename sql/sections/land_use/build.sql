-- purpose: the class of land use that covers most of each parcel
-- version: 2
-- reads: core.parcel, layer.land_use_piece, layer.land_use_class
-- writes: section.land_use
-- incremental: rows of parcels
-- grain: one row per land parcel that the map reaches
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

-- Pieces drive and parcels follow, as in section risk: a piece is prepared once for all parcels under its index. Offset 0 keeps statistics out of the
-- joins of geometries: where a map has nothing near the parcels, PGlite's build answers how many pairs there are with nonsense, and breaks off.
create table region_box as
select
  st_setsrid(st_extent(geom)::geometry, 4326) as geom
from parcel
where exists (select from land_use_piece);

-- Inside an urban area the map leaves no gaps: many parcels lie in one piece, and need no intersection with it, nor any look at the others near.
create table land_use_whole as
select
  parcel.fid,
  piece.code,
  piece.release_id,
  piece.member_id,
  piece.position,
  parcel.area_m2 as parcel_m2,
  parcel.area_m2 as shared_m2
from (
  select
    release_id,
    member_id,
    position,
    code,
    geom
  from land_use_piece
  where geom && (select geom from region_box)
  offset 0
) as piece
join parcel on st_covers(piece.geom, parcel.geom)
where parcel.kind = 'land';

analyze land_use_whole (fid);

-- Of parcels near the edge of a piece, the others are looked at first by their boxes, then against the piece, which is prepared once, then measured.
create table land_use_part as
select
  fid,
  code,
  release_id,
  member_id,
  position,
  parcel_m2,
  core.area_m2(st_intersection(piece_geom, parcel_geom, core.overlay_grid(1e-13))) as shared_m2
from (
  select
    piece.release_id,
    piece.member_id,
    piece.position,
    piece.code,
    piece.geom as piece_geom,
    parcel.fid,
    parcel.area_m2 as parcel_m2,
    parcel.geom as parcel_geom
  from (
    select
      release_id,
      member_id,
      position,
      code,
      geom
    from land_use_piece
    where geom && (select geom from region_box)
    offset 0
  ) as piece
  join parcel on parcel.geom && piece.geom
  where parcel.kind = 'land'
    and not exists (select from land_use_whole as whole where whole.fid = parcel.fid)
  offset 0
) as near
where st_intersects(piece_geom, parcel_geom);

create view land_use_share as
select * from land_use_whole
union all
select * from land_use_part where shared_m2 > 0;

-- Pieces of one polygon do not overlap.
create table land_use_area as
select
  fid,
  code,
  member_id,
  min(parcel_m2) as parcel_m2,
  sum(shared_m2) as shared_m2
from land_use_part
where shared_m2 > 0
group by fid, code, release_id, member_id, position;

-- Polygons of one class should not, but two files may have the same area: what several share with a parcel is united, unless one has it all.
create table land_use_union as
with several as (
  select
    fid,
    code
  from land_use_area
  group by fid, code
  having count(*) > 1
    and max(shared_m2) < min(parcel_m2)
)
select
  shape.fid,
  shape.code,
  core.area_m2(
    st_union(st_collectionextract(st_intersection(piece.geom, shape.geom, core.overlay_grid(1e-13)), 3), core.overlay_grid(1e-13))
  ) as shared_m2
from (
  select
    several.fid,
    several.code,
    parcel.geom
  from several
  join parcel using (fid)
  offset 0
) as shape
join land_use_piece as piece
  on piece.geom && shape.geom
  and piece.code = shape.code
group by shape.fid, shape.code;

create table land_use_overlap as
select
  area.fid,
  area.code,
  min(area.member_id) as member_id,
  min(area.parcel_m2) as parcel_m2,
  coalesce(min(united.shared_m2), max(area.shared_m2)) as shared_m2
from land_use_area as area
left join land_use_union as united
  on united.fid = area.fid
  and united.code = area.code
group by area.fid, area.code;

-- Touching is not sharing: an overlap counts from 1 m² on, or from half of a parcel that is smaller than 2 m².
create table land_use_largest as
(
  select distinct on (fid)
    fid,
    code,
    member_id,
    1::float8 as share
  from land_use_whole
  order by fid, code collate "C"
)
union all
(
  select distinct on (fid)
    fid,
    code,
    member_id,
    round(least(1, shared_m2 / parcel_m2)::numeric, 6)::float8
  from land_use_overlap
  where shared_m2 >= least(1, parcel_m2 / 2)
  order by fid, round(shared_m2::numeric, 2) desc, code collate "C"
);

create table land_use as
select
  largest.fid,
  largest.code,
  class.class,
  largest.share
from land_use_largest as largest
left join land_use_class as class
  on class.member_id = largest.member_id
  and class.code = largest.code
order by largest.fid;

alter table land_use add primary key (fid);
alter table land_use alter column code set not null;
alter table land_use alter column share set not null;
