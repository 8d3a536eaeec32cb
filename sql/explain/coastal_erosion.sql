-- purpose: the shoreline segments near one parcel
-- reads: core.parcel
-- writes: none
-- reruns: section.coastal_erosion
-- grain: one row per segment
-- crs: none

create view evidence as
select
  fid,
  'coastal_erosion[' || ordinal - 1 || ']' as field,
  dynamic as value,
  release_id,
  member_id,
  position,
  distance_m as measure,
  'm' as unit,
  'segment within 1,000 m, nearest first, at most five' as rule
from shore_rank
where ordinal <= 5;
