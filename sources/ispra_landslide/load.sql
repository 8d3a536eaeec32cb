-- purpose: repairs polygons, reprojects them once, cuts them into pieces, and records the covered regions
-- reads: staging.raw_landslide_hazard, core.region_box
-- writes: layer.landslide_hazard, layer.landslide_hazard_piece, layer.landslide_coverage
-- grain: one row per published polygon, one row per piece, one row per member
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 10 m before they are reprojected. See core.in_degrees.
create table landslide_hazard as
with clean as materialized (
  select
    member_id,
    position,
    class,
    label,
    core.valid_polygons(core.in_degrees(geom, 10)) as geom
  from raw_landslide_hazard
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.class,
  clean.label,
  core.area_m2(clean.geom) as area_m2,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where not st_isempty(clean.geom);

-- The pieces are sorted along a Hilbert curve, so that neighbouring pieces are close together on disk.
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

-- serves: section risk, for the pieces that intersect a region's box
create index landslide_hazard_piece_geom_idx on landslide_hazard_piece using gist (geom);

create table landslide_coverage as
with reached as (
  select
    piece.member_id,
    array_agg(distinct box.region_code order by box.region_code) as regions
  from landslide_hazard_piece as piece
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
from landslide_hazard as held
cross join release
left join reached using (member_id)
group by release.release_id, held.member_id, reached.regions
order by held.member_id;
