-- purpose: repairs polygons, reprojects them once, cuts them into pieces, and records the area that each scenario covers
-- reads: staging.raw_flood_hazard, core.region_box
-- writes: layer.flood_hazard, layer.flood_hazard_piece, layer.flood_coverage
-- grain: one row per published polygon, one row per piece, one row per member and scenario
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 10 m before they are reprojected. See core.in_degrees.
create table flood_hazard as
with clean as materialized (
  select
    member_id,
    position,
    class,
    scenario,
    core.valid_polygons(core.in_degrees(geom, 10)) as geom
  from raw_flood_hazard
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  coalesce(clean.class, 'HPH') as class,
  clean.scenario,
  core.area_m2(clean.geom) as area_m2,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where not st_isempty(clean.geom);

-- The pieces are sorted along a Hilbert curve, so that neighbouring pieces are close together on disk.
create table flood_hazard_piece as
select
  release.release_id,
  hazard.member_id,
  hazard.position,
  hazard.class,
  piece.geom::geometry(polygon, 4326) as geom
from flood_hazard as hazard
cross join release
cross join lateral core.area_pieces(hazard.geom) as piece (geom)
order by piece.geom, hazard.member_id, hazard.position;

-- serves: section risk, for the pieces that intersect a region's box
create index flood_hazard_piece_geom_idx on flood_hazard_piece using gist (geom);

-- Bolzano (021) and the Marche (041 Pesaro e Urbino, 042 Ancona, 043 Macerata, 044 Ascoli Piceno, 109 Fermo) have no P3 scenario. ISPRA's indicators by
-- comune have −1, "scenario not available", only in these provinces. See notes.md.
create table flood_coverage as
with reached as (
  select
    piece.member_id,
    piece.class,
    array_agg(distinct box.region_code order by box.region_code) as regions
  from flood_hazard_piece as piece
  join core.region_box as box
    on piece.geom && box.geom
    and (piece.geom @ box.geom or st_intersects(piece.geom, box.geom))
  group by piece.member_id, piece.class
)
select
  release.release_id,
  held.member_id,
  min(held.position) as position,
  held.class,
  case held.class
    when 'P3' then array['021', '041', '042', '043', '044', '109']
    else '{}'::text[]
  end as missing_provinces,
  coalesce(reached.regions, '{}') as regions
from flood_hazard as held
cross join release
left join reached using (member_id, class)
group by release.release_id, held.member_id, held.class, reached.regions
order by held.member_id, held.class;
