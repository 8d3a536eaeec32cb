-- purpose: polygons made valid and reprojected once, cut into pieces, and the coverage of each scenario
-- reads: staging.raw_flood_hazard
-- writes: layer.flood_hazard, layer.flood_hazard_piece, layer.flood_coverage
-- grain: one row per published polygon; one per piece; one per scenario
-- crs: from the file's CRS to EPSG:4326

-- A straight edge of the file's projection is not straight in degrees: over 1 km the two part by 2 cm, over 10 km by 2 m. So edges
-- are divided to 1 km before they are reprojected (for a file in degrees the number means degrees, and nothing is divided).
-- Validity is looked at first: repairing is dear, and most polygons need none.
create table flood_hazard as
with reprojected as materialized (
  select
    member_id,
    position,
    class,
    scenario,
    st_transform(st_segmentize(geom, 1000), 4326) as geom
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
  st_area(st_transform(clean.geom, 3035)) as area_m2,
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

-- Each area is quartered by its box, again and again, until a quarter has at most 256 corners. Clipping by a box takes time in proportion to the corners,
-- at every depth: two million corners take seconds, where st_subdivide, which overlays at every depth, takes many minutes. Clipping may leave a
-- polygon that touches itself, which is mended at the end; a check holds the pieces' area against the whole's.
-- The pieces lie in the order of a Hilbert curve, so that neighbours are together on disk for the joins.
create table flood_hazard_piece as
with recursive quarter as (
  select
    member_id,
    position,
    class,
    geom::geometry as geom,
    0 as depth
  from flood_hazard
  union all
  select
    quarter.member_id,
    quarter.position,
    quarter.class,
    clipped.geom,
    quarter.depth + 1
  from quarter
  -- offset 0: computed once per quarter, not once for each of its uses.
  cross join lateral (
    select quarter.geom::box3d as box offset 0
  ) as extent
  cross join lateral (
    select
      st_xmin(extent.box) as west,
      st_ymin(extent.box) as south,
      (st_xmin(extent.box) + st_xmax(extent.box)) / 2 as x,
      (st_ymin(extent.box) + st_ymax(extent.box)) / 2 as y,
      st_xmax(extent.box) as east,
      st_ymax(extent.box) as north
  ) as side
  cross join lateral (
    select
      array_agg(cell.box order by cell.n) as boxes,
      array_agg(st_collectionextract(st_clipbybox2d(quarter.geom, cell.box::box2d), 3) order by cell.n) as clips
    from (
      values
        (1, st_makeenvelope(side.west, side.south, side.x, side.y, 4326)),
        (2, st_makeenvelope(side.x, side.south, side.east, side.y, 4326)),
        (3, st_makeenvelope(side.west, side.y, side.x, side.north, 4326)),
        (4, st_makeenvelope(side.x, side.y, side.east, side.north, 4326))
    ) as cell (n, box)
    offset 0
  ) as cut
  -- Clipping by a box loses a part now and then, where an edge runs along the box: such a quarter is overlaid, which is slow and right.
  cross join lateral (
    select abs(sum(st_area(part.geom)) - st_area(quarter.geom)) <= 1e-9 * st_area(quarter.geom) as is_whole
    from unnest(cut.clips) as part (geom)
    offset 0
  ) as judged
  cross join lateral (
    select
      case
        when judged.is_whole then part.geom
        else st_collectionextract(st_intersection(case when st_isvalid(quarter.geom) then quarter.geom else st_makevalid(quarter.geom) end, part.box), 3)
      end as geom
    from unnest(cut.clips, cut.boxes) as part (geom, box)
    offset 0
  ) as clipped
  where st_npoints(quarter.geom) > 256
    -- After thirty quarterings a box of ten degrees is a millimetre wide.
    and quarter.depth < 30
    and not st_isempty(clipped.geom)
),
piece as (
  select
    member_id,
    position,
    class,
    (st_dump(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)).geom as geom
  from quarter
  where st_npoints(geom) <= 256
    or depth = 30
)
select
  release.release_id,
  piece.member_id,
  piece.position,
  piece.class,
  piece.geom::geometry(polygon, 4326) as geom
from piece
cross join release
order by piece.geom, piece.member_id, piece.position;

-- serves: section risk, which reads the pieces that meet a region's box
create index flood_hazard_piece_geom_idx on flood_hazard_piece using gist (geom);

-- Bolzano (021) and the Marche (041 Pesaro e Urbino, 042 Ancona, 043 Macerata, 044 Ascoli Piceno, 109 Fermo) have no P3 scenario: ISPRA's own
-- indicators by comune hold −1, "scenario not available", there and only there. See notes.md.
create table flood_coverage as
select
  release_id,
  (array_agg(member_id order by member_id, position))[1] as member_id,
  (array_agg(position order by member_id, position))[1] as position,
  class,
  case class
    when 'P3' then array['021', '041', '042', '043', '044', '109']
    else '{}'::text[]
  end as missing_provinces
from flood_hazard
where class <> 'HPH'
group by release_id, class
order by class;
