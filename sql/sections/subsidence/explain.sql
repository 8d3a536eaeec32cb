-- purpose: the cells from which the section subsidence of one parcel is computed, and the tile that contains the parcel
-- reads: core.parcel, core.motion_tile
-- writes: none
-- reruns: section.subsidence
-- grain: one row per cell and mean value, and one row per tile
-- crs: tiles are squares of EPSG:3035

create view evidence as
select
  fid,
  'velocity_mm_year' as field,
  velocity::text as value,
  release_id,
  member_id,
  position,
  case when is_whole then 100 else weight end as measure,
  case when is_whole then '% of the parcel' else 'm2' end as unit,
  'velocity of a cell, weighted by the area shared with the parcel' as rule
from cell_share
union all
select
  fid,
  'acceleration_mm_year2',
  acceleration::text,
  release_id,
  member_id,
  position,
  case when is_whole then 100 else weight end,
  case when is_whole then '% of the parcel' else 'm2' end,
  'acceleration of a cell, weighted by the area shared with the parcel'
from cell_share
union all
select
  parcel.fid,
  'meta.coverage.subsidence',
  'mapped',
  tile.release_id,
  tile.member_id,
  tile.position,
  null,
  null,
  'tile that contains the representative point'
from parcel
join motion_tile as tile
  on tile.tile_x = floor(st_x(st_transform(parcel.point, 3035)) / 100000)
  and tile.tile_y = floor(st_y(st_transform(parcel.point, 3035)) / 100000);
