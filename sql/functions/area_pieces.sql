-- purpose: division of polygons into pieces that make joins with parcels fast
-- reads: none
-- writes: core.area_pieces
-- grain: one call per polygon
-- crs: any in degrees

-- Halves an area across the longer side of its box until each half has at most 256 vertices. Clipping by a box takes time in proportion to the number of
-- vertices, so two million vertices take seconds. st_subdivide computes an overlay for each division and takes many minutes. Division into quarters would also
-- cut long, narrow areas lengthwise, and would give ten times as many pieces. Clipping may leave a polygon that touches itself. The last step repairs such a
-- polygon. A check of each source compares the area of the pieces with the area of the complete polygon.
create or replace function core.area_pieces(area geometry) returns setof geometry
language sql immutable parallel safe
as $$
  with recursive half as (
    select
      area as geom,
      0 as depth
    union all
    select
      clipped.geom,
      half.depth + 1
    from half
    -- offset 0 makes PostgreSQL compute the box once per half instead of once per use.
    cross join lateral (
      select half.geom::box3d as box offset 0
    ) as extent
    cross join lateral (
      select
        st_xmin(extent.box) as west,
        st_ymin(extent.box) as south,
        st_xmax(extent.box) as east,
        st_ymax(extent.box) as north,
        -- In Italy, a degree of longitude is about three quarters as long as a degree of latitude. If a box is nearly square, either side can be halved.
        0.75 * (st_xmax(extent.box) - st_xmin(extent.box)) >= st_ymax(extent.box) - st_ymin(extent.box) as is_wide
    ) as side
    cross join lateral (
      select
        array_agg(cell.box order by cell.n) as boxes,
        array_agg(st_collectionextract(st_clipbybox2d(half.geom, cell.box::box2d), 3) order by cell.n) as clips
      from (
        select
          1 as n,
          case
            when side.is_wide then st_makeenvelope(side.west, side.south, (side.west + side.east) / 2, side.north, st_srid(area))
            else st_makeenvelope(side.west, side.south, side.east, (side.south + side.north) / 2, st_srid(area))
          end as box
        union all
        select
          2,
          case
            when side.is_wide then st_makeenvelope((side.west + side.east) / 2, side.south, side.east, side.north, st_srid(area))
            else st_makeenvelope(side.west, (side.south + side.north) / 2, side.east, side.north, st_srid(area))
          end
      ) as cell
      offset 0
    ) as cut
    -- Clipping by a box sometimes loses a part if an edge runs along the box. Such a half is computed by an overlay, which is slow but correct.
    cross join lateral (
      select abs(sum(st_area(part.geom)) - st_area(half.geom)) <= 1e-9 * st_area(half.geom) as is_whole
      from unnest(cut.clips) as part (geom)
      offset 0
    ) as judged
    cross join lateral (
      select
        case
          when judged.is_whole then part.geom
          else st_collectionextract(st_intersection(case when st_isvalid(half.geom) then half.geom else st_makevalid(half.geom) end, part.box, core.overlay_grid(1e-10)), 3)
        end as geom
      from unnest(cut.clips, cut.boxes) as part (geom, box)
      offset 0
    ) as clipped
    where st_npoints(half.geom) > 256
      -- After 60 halvings, a box of ten degrees is a millimetre wide.
      and half.depth < 60
      and not st_isempty(clipped.geom)
  )
  select (st_dump(case when st_isvalid(geom) then geom else st_collectionextract(st_makevalid(geom), 3) end)).geom
  from half
  where st_npoints(geom) <= 256
    or depth = 60
$$;
comment on function core.area_pieces(geometry) is 'Pieces of a valid polygon or multipolygon. The pieces are polygons of at most 256 vertices. In total, the pieces cover the same area';
