-- purpose: the polygons that made the section land_cover of one parcel, and the file that speaks for its comune
-- reads: core.parcel, core.land_coverage
-- writes: none
-- reruns: section.land_cover
-- grain: one row per polygon; one for the coverage
-- crs: none

create view evidence as
select
  fid,
  'code' as field,
  class as value,
  release_id,
  member_id,
  position,
  shared_m2 as measure,
  'm2' as unit,
  'area shared with the parcel; the class of which most is shared counts, of those that share as much to 0.01 m² the smaller code' as rule
from largest_area
union all
select
  fid,
  'share',
  class,
  release_id,
  member_id,
  position,
  shared_m2 / parcel_m2,
  'of the parcel',
  'part of the parcel in a polygon of the class; what several polygons share counts once'
from largest_area
where is_largest
union all
select
  parcel.fid,
  'meta.coverage.land_cover',
  'mapped',
  coverage.release_id,
  coverage.member_id,
  coverage.position,
  null,
  null,
  'newest file that covers the comune: it reaches 15 regions of Italy, or a polygon of it shares 1 m² with the comune'
from parcel
join land_coverage as coverage using (belfiore)
where coverage.mapped;
