-- purpose: of when the tiles are that a region's parcels have their ground motion from
-- cites: egms_vertical
-- reads: core.motion_tile, core.parcel, section.subsidence
-- writes: none
-- grain: one row per source and vintage
-- crs: tiles in EPSG:3035, points in EPSG:4326

select distinct
  'egms_vertical' as source_id,
  m.vintage
from motion_tile t
join member_in_force m on m.member_id = t.member_id
-- A tile's sides are curves in degrees: they lie within 0.05° of the box of its corners.
cross join lateral (
  select
    st_expand(
      st_transform(st_makeenvelope(t.tile_x * 100000, t.tile_y * 100000, (t.tile_x + 1) * 100000, (t.tile_y + 1) * 100000, 3035), 4326),
      0.05
    ) as box
) around
where exists (
  select from parcel p
  join subsidence s on s.fid = p.fid
  where p.point && around.box
    and floor(st_x(st_transform(p.point, 3035)) / 100000) = t.tile_x
    and floor(st_y(st_transform(p.point, 3035)) / 100000) = t.tile_y
);
