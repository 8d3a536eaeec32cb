-- purpose: the polygons that determine the section land_cover of one parcel, and the file used for its comune
-- reads: core.parcel, core.land_coverage
-- writes: none
-- reruns: section.land_cover
-- grain: one row per polygon, and one row for the coverage
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
  'area shared with the parcel; the class with the largest area is used, or the smaller code if areas differ by less than 0.01 m²' as rule
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
  'share of the parcel in polygons of the class; overlaps count once'
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
  'newest file that covers the comune: a file with at least 15 regions, or a file with a polygon that shares at least 1 m² with the comune'
from parcel
join land_coverage as coverage using (belfiore)
where coverage.mapped;
