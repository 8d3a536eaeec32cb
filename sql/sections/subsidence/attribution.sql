-- purpose: the ground-motion tiles that contain the parcels' cells
-- cites: egms_vertical
-- reads: core.motion_tile, core.parcel, section.subsidence, layer.egms_cell
-- writes: none
-- grain: one row per key and vintage
-- crs: tiles and cells in EPSG:3035

create table cited_edition as
select distinct
  'egms_vertical' as source_id,
  m.vintage
from motion_tile t
join current_member m on m.member_id = t.member_id;

-- If all tiles have the same vintage, the parcels are not read.
create view cited_parcel as
with box as (
  select
    p.fid,
    b.box
  from subsidence s
  join parcel p on p.fid = s.fid
  cross join lateral (select st_transform(st_envelope(p.geom), 3035) as box) b
  where (select count(*) > 1 from cited_edition)
),
met as (
  select
    b.fid,
    b.box,
    t.tile_x,
    t.tile_y,
    m.vintage,
    count(*) over (partition by b.fid) as tiles
  from box b
  join motion_tile t on t.tile_x between floor(st_xmin(b.box) / 100000) and floor(st_xmax(b.box) / 100000)
    and t.tile_y between floor(st_ymin(b.box) / 100000) and floor(st_ymax(b.box) / 100000)
  join current_member m on m.member_id = t.member_id
)
select
  m.fid,
  array_agg(distinct m.vintage order by m.vintage) as vintages
from met m
-- If the box of a parcel overlaps several tiles, the parcel cites only the tiles that have a cell in the box.
where m.tiles = 1
  or exists (
    select
    from egms_cell c
    where c.ix between greatest(floor(st_xmin(m.box) / 100), m.tile_x * 1000) and least(floor(st_xmax(m.box) / 100), m.tile_x * 1000 + 999)
      and c.iy between greatest(floor(st_ymin(m.box) / 100), m.tile_y * 1000) and least(floor(st_ymax(m.box) / 100), m.tile_y * 1000 + 999)
  )
group by m.fid;

-- step: cited_editions.sql
