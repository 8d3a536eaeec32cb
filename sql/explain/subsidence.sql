-- purpose: the cells that made the section subsidence of one parcel
-- reads: core.parcel
-- writes: none
-- reruns: section.subsidence
-- grain: one row per cell
-- crs: none

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
  'velocity of a cell, weighted by the area of it that the parcel covers' as rule
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
  'acceleration of a cell, weighted by the area of it that the parcel covers'
from cell_share;
