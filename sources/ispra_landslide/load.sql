-- purpose: makes polygons valid, reprojects them once, cuts them into pieces, and records the regions that they cover
-- reads: staging.raw_landslide_hazard, core.region_box
-- writes: layer.landslide_hazard, layer.landslide_hazard_piece, layer.landslide_coverage
-- grain: one row per published polygon; one per piece; one per member
-- crs: from the file's CRS to EPSG:4326

-- Edges are divided to 10 m before they are reprojected: see core.in_degrees. Validity is checked first, because repairing is expensive and most polygons
-- need no repair.
create table landslide_hazard as
with reprojected as materialized (
  select
    member_id,
    position,
    class,
    label,
    core.in_degrees(geom, 10) as geom
  from raw_landslide_hazard
),
clean as materialized (
  select
    member_id,
    position,
    class,
    label,
    st_multi(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)::geometry(multipolygon, 4326) as geom
  from reprojected
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.class,
  clean.label,
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
from raw_landslide_hazard as raw
where not exists (
  select
  from landslide_hazard
  where landslide_hazard.member_id = raw.member_id
    and landslide_hazard.position = raw.position
);

-- The pieces are in the order of a Hilbert curve, so that neighbours are together on disk for the joins.
create table landslide_hazard_piece as
select
  release.release_id,
  hazard.member_id,
  hazard.position,
  hazard.class,
  piece.geom::geometry(polygon, 4326) as geom
from landslide_hazard as hazard
cross join release
cross join lateral core.area_pieces(hazard.geom) as piece (geom)
order by piece.geom, hazard.member_id, hazard.position;

-- serves: section risk, which reads the pieces that intersect a region's box
create index landslide_hazard_piece_geom_idx on landslide_hazard_piece using gist (geom);

create table landslide_coverage as
with reached as (
  select distinct
    piece.member_id,
    box.region_code
  from landslide_hazard_piece as piece
  join core.region_box as box
    on piece.geom && box.geom
    and (piece.geom @ box.geom or st_intersects(piece.geom, box.geom))
)
select
  release.release_id,
  held.member_id,
  held.position,
  array(
    select reached.region_code
    from reached
    where reached.member_id = held.member_id
    order by reached.region_code
  ) as regions
from (
  select
    member_id,
    min(position) as position
  from landslide_hazard
  group by member_id
) as held
cross join release
order by held.member_id;
