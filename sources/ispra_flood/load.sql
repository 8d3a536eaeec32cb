-- purpose: makes polygons valid, reprojects them once, cuts them into pieces, and records the area that each scenario covers
-- reads: staging.raw_flood_hazard, core.region_box
-- writes: layer.flood_hazard, layer.flood_hazard_piece, layer.flood_coverage
-- grain: one row per published polygon; one per piece; one per scenario and member
-- crs: from the file's CRS to EPSG:4326

-- Edges are divided to 10 m before they are reprojected: see core.in_degrees. Validity is checked first, because repairing is expensive and most polygons
-- need no repair.
create table flood_hazard as
with reprojected as materialized (
  select
    member_id,
    position,
    class,
    scenario,
    core.in_degrees(geom, 10) as geom
  from raw_flood_hazard
),
clean as materialized (
  select
    member_id,
    position,
    class,
    scenario,
    st_multi(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)::geometry(multipolygon, 4326) as geom
  from reprojected
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  coalesce(clean.class, 'HPH') as class,
  clean.scenario,
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
from raw_flood_hazard as raw
where not exists (
  select
  from flood_hazard
  where flood_hazard.member_id = raw.member_id
    and flood_hazard.position = raw.position
);

-- The pieces are in the order of a Hilbert curve, so that neighbours are together on disk for the joins.
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

-- serves: section risk, which reads the pieces that intersect a region's box
create index flood_hazard_piece_geom_idx on flood_hazard_piece using gist (geom);

-- Bolzano (021) and the Marche (041 Pesaro e Urbino, 042 Ancona, 043 Macerata, 044 Ascoli Piceno, 109 Fermo) have no P3 scenario: ISPRA's
-- indicators by comune have −1, "scenario not available", there and nowhere else. See notes.md.
create table flood_coverage as
with reached as (
  select distinct
    piece.member_id,
    piece.class,
    box.region_code
  from flood_hazard_piece as piece
  join core.region_box as box
    on piece.geom && box.geom
    and (piece.geom @ box.geom or st_intersects(piece.geom, box.geom))
)
select
  release.release_id,
  held.member_id,
  held.position,
  held.class,
  case held.class
    when 'P3' then array['021', '041', '042', '043', '044', '109']
    else '{}'::text[]
  end as missing_provinces,
  array(
    select reached.region_code
    from reached
    where reached.member_id = held.member_id
      and reached.class = held.class
    order by reached.region_code
  ) as regions
from (
  select
    member_id,
    class,
    min(position) as position
  from flood_hazard
  group by member_id, class
) as held
cross join release
order by held.member_id, held.class;
