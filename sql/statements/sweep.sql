-- purpose: input rasters and shapes of a raster sweep, and the result table
-- reads: ledger.member, ledger.file, ledger.seen_file
-- writes: none
-- grain: one row per raster, file or shape
-- crs: shapes in EPSG:4326; points are returned in the CRS of the rasters

-- statement: tables
create unlogged table :"into" (
  turn int4 not null,
  id int8 not null,
  model int4 not null,
  cells int4 not null,
  missing int4 not null,
  unread bool not null,
  :"columns"
);
create table :"runs" (
  member_id int4 not null,
  id int8 not null,
  release_id int4 not null,
  position int8 not null,
  turn int4 not null,
  row_number int4 not null,
  first_column int4 not null,
  last_column int4 not null
);

-- statement: column
:"name" :"type"

-- statement: tiles
select
  t.model,
  t.name,
  t.release_id as "releaseId",
  t.member_id as "memberId",
  t.position,
  t.epsg,
  t.width,
  t.height,
  t.west,
  t.north,
  t.cell_width as "cellWidth",
  t.cell_height as "cellHeight",
  t.block_width as "blockWidth",
  t.block_height as "blockHeight",
  m.path as member,
  f.path,
  f.sha256,
  f.size
from :"tiles" t
join ledger.member m using (member_id)
join ledger.file f using (file_id)
order by t.model, t.name collate "C", t.member_id

-- statement: places
-- Returns the paths of all files with one of the given SHA-256 digests.
select
  path,
  size,
  modified_ms as "modifiedMs",
  changed_us as "changedUs",
  sha256
from ledger.seen_file
where sha256 = any ($1::text[])
order by path

-- statement: shapes
-- Sorts the shapes by stripes as wide as a tile, and within a stripe by rows of blocks, so that only few blocks must be kept in memory. Points are transformed
-- in this statement, because they determine the order. Areas are transformed when they are fetched. Skips shapes for which an earlier grid of rasters has all
-- values or lacks a file. The first offset 0 keeps the condition on the box out of the query for the shapes. The planner does not know the box when it plans
-- the query, and would expect a single shape in the box.
declare swept_shape no scroll cursor for
select
  o.id,
  o.x,
  o.y,
  :"geom" as geom
from (
  select
    s.id,
    s.geom,
    st_x(p.point) as x,
    st_y(p.point) as y
  from (:"over" offset 0) s
  cross join lateral (select st_transform(s.point, :'epsg') as point offset 0) p
  where s.geom && (
      select st_expand(st_setsrid(st_extent(t.geom)::geometry, 4326), 0.001)
      from :"tiles" t
      where t.member_id in (:'members')
    )
    and not exists (
      select
      from :"into" w
      where w.id = s.id
        and (w.unread or w.missing = 0)
    )
  order by floor((st_x(p.point) - :'west') / :'stripe'), floor((:'north' - st_y(p.point)) / :'band')
  offset 0
) o

-- statement: areas
select
  id,
  point,
  geom
from :"over"

-- statement: points
select
  id,
  point,
  point as geom
from :"over"

-- statement: area
st_asbinary(o.geom, 'NDR')

-- statement: point
null::bytea

-- statement: next_shapes
fetch forward :'shapes' from swept_shape

-- statement: no_more_shapes
close swept_shape
