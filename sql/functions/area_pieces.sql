-- purpose: polygons cut into pieces that joins with parcels are fast on
-- reads: none
-- writes: core.area_pieces
-- grain: one call per polygon
-- crs: degrees; any works

-- An area is quartered by its box, again and again, until a quarter has at most 256 corners. Clipping by a box takes time in proportion to the corners,
-- at every depth: two million corners take seconds, where st_subdivide, which overlays at every depth, takes many minutes. Clipping may leave a
-- polygon that touches itself, which is mended at the end; a check of each source holds the pieces' area against the whole's.
create or replace function core.area_pieces(area geometry) returns setof geometry
language sql immutable parallel safe
as $$
  with recursive quarter as (
    select
      area as geom,
      0 as depth
    union all
    select
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
          (1, st_makeenvelope(side.west, side.south, side.x, side.y, st_srid(area))),
          (2, st_makeenvelope(side.x, side.south, side.east, side.y, st_srid(area))),
          (3, st_makeenvelope(side.west, side.y, side.x, side.north, st_srid(area))),
          (4, st_makeenvelope(side.x, side.y, side.east, side.north, st_srid(area)))
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
          else st_collectionextract(st_intersection(case when st_isvalid(quarter.geom) then quarter.geom else st_makevalid(quarter.geom) end, part.box, core.overlay_grid(1e-10)), 3)
        end as geom
      from unnest(cut.clips, cut.boxes) as part (geom, box)
      offset 0
    ) as clipped
    where st_npoints(quarter.geom) > 256
      -- After thirty quarterings a box of ten degrees is a millimetre wide.
      and quarter.depth < 30
      and not st_isempty(clipped.geom)
  )
  select (st_dump(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)).geom
  from quarter
  where st_npoints(geom) <= 256
    or depth = 30
$$;
comment on function core.area_pieces(geometry) is 'The pieces, polygons of at most 256 corners, that cover a valid polygon or multipolygon';
