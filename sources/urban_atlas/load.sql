-- purpose: repairs polygons and boundaries, reprojects them once, cuts them into pieces, and records class names
-- reads: staging.raw_land_use, staging.raw_urban_area
-- writes: layer.land_use_polygon, layer.land_use_piece, layer.land_use_class, layer.urban_boundary, layer.urban_boundary_piece
-- grain: one row per published polygon, per piece, per class of a member, per boundary, and per piece of a boundary
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 20 m before they are reprojected. See core.in_degrees. Neighbouring polygons share their edges, so the
-- shared edges are split at the same points.
create table land_use_polygon as
with clean as materialized (
  select
    member_id,
    position,
    fua_code,
    code,
    class,
    core.valid_polygons(core.in_degrees(geom, 20)) as geom
  from raw_land_use
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.fua_code,
  clean.code,
  clean.class,
  core.area_m2(clean.geom) as area_m2,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where not st_isempty(clean.geom);

create table urban_boundary as
with clean as materialized (
  select
    member_id,
    position,
    core.valid_polygons(core.in_degrees(geom, 20)) as geom
  from raw_urban_area
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  core.area_m2(clean.geom) as area_m2,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where not st_isempty(clean.geom);

-- The pieces are sorted along a Hilbert curve, so that neighbouring pieces are close together on disk.
create table land_use_piece as
select
  release.release_id,
  land_use_polygon.member_id,
  land_use_polygon.position,
  land_use_polygon.code,
  piece.geom::geometry(polygon, 4326) as geom
from land_use_polygon
cross join release
cross join lateral core.area_pieces(land_use_polygon.geom) as piece (geom)
order by piece.geom, land_use_polygon.member_id, land_use_polygon.position;

-- serves: section land_use, for the pieces that intersect a region's box
create index land_use_piece_geom_idx on land_use_piece using gist (geom);

create table land_use_class as
select distinct on (land_use_polygon.member_id, land_use_polygon.code)
  release.release_id,
  land_use_polygon.member_id,
  land_use_polygon.position,
  land_use_polygon.code,
  land_use_polygon.class
from land_use_polygon
cross join release
where land_use_polygon.class is not null
order by land_use_polygon.member_id, land_use_polygon.code, land_use_polygon.position;

create table urban_boundary_piece as
select
  release.release_id,
  urban_boundary.member_id,
  urban_boundary.position,
  piece.geom::geometry(polygon, 4326) as geom
from urban_boundary
cross join release
cross join lateral core.area_pieces(urban_boundary.geom) as piece (geom)
order by piece.geom, urban_boundary.member_id, urban_boundary.position;

-- serves: section land_use, for the urban areas of a region's parcels
create index urban_area_piece_geom_idx on urban_boundary_piece using gist (geom);
