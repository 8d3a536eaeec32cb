-- purpose: repairs polygons, reprojects them once, cuts them into pieces, and records class names and covered regions
-- reads: staging.raw_land_cover, core.region_box
-- writes: layer.land_cover_polygon, layer.land_cover_piece, layer.land_cover_class, layer.land_cover_reach
-- grain: one row per published polygon, one row per piece, one row per member and class, one row per member
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 40 m before they are reprojected. See core.in_degrees. Neighbouring polygons share their edges, so the
-- shared edges are split at the same points.
create table land_cover_polygon as
with clean as materialized (
  select
    member_id,
    position,
    clc_id,
    code,
    core.valid_polygons(core.in_degrees(geom, 40)) as geom
  from raw_land_cover
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.clc_id,
  clean.code,
  core.area_m2(clean.geom) as area_m2,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where not st_isempty(clean.geom);

-- The pieces are sorted along a Hilbert curve, so that neighbouring pieces are close together on disk.
create table land_cover_piece as
select
  release.release_id,
  cover.member_id,
  cover.position,
  cover.code,
  piece.geom::geometry(polygon, 4326) as geom
from land_cover_polygon as cover
cross join release
cross join lateral core.area_pieces(cover.geom) as piece (geom)
order by piece.geom, cover.member_id, cover.position;

-- serves: section land_cover, for the pieces that intersect a region's box
create index land_cover_piece_geom_idx on land_cover_piece using gist (geom);

create table land_cover_class as
select distinct on (raw.member_id, raw.code)
  release.release_id,
  raw.member_id,
  raw.position,
  raw.code,
  raw.description
from raw_land_cover as raw
cross join release
order by raw.member_id, raw.code, raw.position;

create table land_cover_reach as
with reached as (
  select
    piece.member_id,
    array_agg(distinct box.region_code order by box.region_code) as regions
  from land_cover_piece as piece
  join core.region_box as box
    on piece.geom && box.geom
    and (piece.geom @ box.geom or st_intersects(piece.geom, box.geom))
  group by piece.member_id
)
select
  release.release_id,
  held.member_id,
  min(held.position) as position,
  coalesce(reached.regions, '{}') as regions
from land_cover_polygon as held
cross join release
left join reached using (member_id)
group by release.release_id, held.member_id, reached.regions
order by held.member_id;
