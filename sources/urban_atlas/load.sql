-- purpose: makes polygons and boundaries valid, reprojects them once, cuts them into pieces, and records class names
-- reads: staging.raw_land_use, staging.raw_urban_area
-- writes: layer.land_use_polygon, layer.land_use_piece, layer.land_use_class, layer.urban_boundary, layer.urban_boundary_piece
-- grain: one row per published polygon; one per piece; one per class of a member; one per boundary; one per piece of it
-- crs: from the file's CRS to EPSG:4326

-- Edges are divided to 20 m before they are reprojected: see core.in_degrees. Neighbours share their edges and are divided alike. Validity is checked
-- first, because repairing is expensive and most polygons need no repair.
create table land_use_polygon as
with reprojected as materialized (
  select
    member_id,
    position,
    fua_code,
    code,
    class,
    core.in_degrees(geom, 20) as geom
  from raw_land_use
),
clean as materialized (
  select
    member_id,
    position,
    fua_code,
    code,
    class,
    st_multi(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)::geometry(multipolygon, 4326) as geom
  from reprojected
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.fua_code,
  clean.code,
  clean.class,
  core.area_m2(clean.geom) as area_m2,
  clean.geom
from clean
cross join release
where not st_isempty(clean.geom);

create table urban_boundary as
with reprojected as materialized (
  select
    member_id,
    position,
    core.in_degrees(geom, 20) as geom
  from raw_urban_area
),
clean as materialized (
  select
    member_id,
    position,
    st_multi(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)::geometry(multipolygon, 4326) as geom
  from reprojected
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  core.area_m2(clean.geom) as area_m2,
  clean.geom
from clean
cross join release
where not st_isempty(clean.geom);

create table reject as
select
  raw.member_id,
  raw.position,
  'geometry_without_area' as code,
  'expected a polygon with an area, found one that is empty once it is made valid' as message,
  left(st_asewkt(raw.geom), 2000) as raw
from (
  select
    member_id,
    position,
    geom
  from raw_land_use
  union all
  select
    member_id,
    position,
    geom
  from raw_urban_area
) as raw
where not exists (
  select
  from land_use_polygon
  where land_use_polygon.member_id = raw.member_id
    and land_use_polygon.position = raw.position
)
  and not exists (
    select
    from urban_boundary
    where urban_boundary.member_id = raw.member_id
      and urban_boundary.position = raw.position
  );

-- The pieces are in the order of a Hilbert curve, so that neighbours are together on disk for the joins.
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

-- serves: section land_use, which reads the pieces that intersect a region's box
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

-- serves: section land_use, which finds the urban areas of a region's parcels
create index urban_area_piece_geom_idx on urban_boundary_piece using gist (geom);
