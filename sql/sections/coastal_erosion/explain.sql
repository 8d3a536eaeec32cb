-- purpose: the shoreline segments near one parcel, and the file used for its coast
-- reads: core.parcel, core.coast_coverage
-- writes: none
-- reruns: section.coastal_erosion
-- grain: one row per segment, and one row for the coverage
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
  case
    when is_measured then 'segment within 1,000 m, nearest first, at most five'
    when dynamic = 'stable' then 'segment within 1,000 m, nearest first, at most five; a stable segment without a published mean did not move'
    else 'segment within 1,000 m, nearest first, at most five; no mean is published'
  end as rule
from shore_rank
where ordinal <= 5
union all
select
  parcel.fid,
  'meta.coverage.coastal_erosion',
  'mapped',
  coverage.release_id,
  coverage.member_id,
  coverage.position,
  null,
  null,
  'newest file that covers the coast of Italy, or that has a segment in this comune'
from parcel
join coast_coverage as coverage using (belfiore)
where coverage.mapped;
