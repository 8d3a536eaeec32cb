-- purpose: the class of land cover that covers most of each parcel
-- version: 2
-- reads: core.parcel, core.land_coverage, layer.land_cover_piece, layer.land_cover_class, layer.land_cover_reach
-- writes: section.land_cover
-- incremental: rows of parcels
-- grain: one row per land parcel that the map reaches
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

-- Pieces drive and parcels follow, as in section risk: a piece is prepared once for all parcels under its index. Offset 0 keeps statistics out of the
-- joins of geometries: where a map has nothing near the parcels, PGlite's build answers how many pairs there are with nonsense, and breaks off.
create table region_box as
select
  st_setsrid(st_extent(geom)::geometry, 4326) as geom
from parcel
where exists (select from land_cover_piece);

-- Where several files overlap, one speaks for each comune: the polygons of the others do not count there. Mostly there is one file, and this is empty.
create table land_cover_silent as
with held as (
  select
    reach.member_id,
    file.file_id
  from land_cover_reach as reach
  join member_in_force as file using (member_id)
)
select
  coverage.belfiore,
  other.member_id
from land_coverage as coverage
join held as speaker on speaker.member_id = coverage.member_id
join held as other on other.file_id <> speaker.file_id
where coverage.mapped;

-- The map leaves no gaps: most parcels lie in one piece, and need no intersection with it, nor any look at the others near.
create table land_cover_whole as
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
  from land_cover_piece
  where geom && (select geom from region_box)
  offset 0
) as piece
join parcel on st_covers(piece.geom, parcel.geom)
where parcel.kind = 'land'
  and not exists (
    select
    from land_cover_silent as silent
    where silent.belfiore = parcel.belfiore
      and silent.member_id = piece.member_id
  );

analyze land_cover_whole (fid);

-- Of parcels near the edge of a piece, the others are looked at first by their boxes, then against the piece, which is prepared once, then measured.
create table land_cover_part as
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
    from land_cover_piece
    where geom && (select geom from region_box)
    offset 0
  ) as piece
  join parcel on parcel.geom && piece.geom
  where parcel.kind = 'land'
    and not exists (select from land_cover_whole as whole where whole.fid = parcel.fid)
    and not exists (
      select
      from land_cover_silent as silent
      where silent.belfiore = parcel.belfiore
        and silent.member_id = piece.member_id
    )
  offset 0
) as near
where st_intersects(piece_geom, parcel_geom);

create view land_cover_share as
select * from land_cover_whole
union all
select * from land_cover_part where shared_m2 > 0;

-- Pieces of one polygon do not overlap.
create table land_cover_area as
select
  fid,
  code,
  min(parcel_m2) as parcel_m2,
  sum(shared_m2) as shared_m2
from land_cover_part
where shared_m2 > 0
group by fid, code, release_id, member_id, position;

-- Polygons of one class should not, and in files that were cut or put together do: what several share with a parcel is united, unless one has it all.
create table land_cover_union as
with several as (
  select
    fid,
    code
  from land_cover_area
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
    parcel.belfiore,
    parcel.geom
  from several
  join parcel using (fid)
  offset 0
) as shape
join land_cover_piece as piece
  on piece.geom && shape.geom
  and piece.code = shape.code
where not exists (
  select
  from land_cover_silent as silent
  where silent.belfiore = shape.belfiore
    and silent.member_id = piece.member_id
)
group by shape.fid, shape.code;

create table land_cover_overlap as
select
  area.fid,
  area.code,
  min(area.parcel_m2) as parcel_m2,
  coalesce(min(united.shared_m2), max(area.shared_m2)) as shared_m2
from land_cover_area as area
left join land_cover_union as united
  on united.fid = area.fid
  and united.code = area.code
group by area.fid, area.code;

-- Touching is not sharing: an overlap counts from 1 m² on, or from half of a parcel that is smaller than 2 m².
create table land_cover_largest as
(
  select distinct on (fid)
    fid,
    code,
    1::float8 as share
  from land_cover_whole
  order by fid, code collate "C"
)
union all
(
  select distinct on (fid)
    fid,
    code,
    round(least(1, shared_m2 / parcel_m2)::numeric, 6)::float8
  from land_cover_overlap
  where shared_m2 >= least(1, parcel_m2 / 2)
  order by fid, round(shared_m2::numeric, 2) desc, code collate "C"
);

create table land_cover as
select
  largest.fid,
  largest.code,
  class.description,
  largest.share
from land_cover_largest as largest
join (
  select distinct on (code)
    code,
    description
  from land_cover_class
  order by code, description collate "C"
) as class using (code)
order by largest.fid;

alter table land_cover add primary key (fid);
alter table land_cover alter column code set not null;
alter table land_cover alter column description set not null;
alter table land_cover alter column share set not null;
