-- purpose: the polygons that determine the section land_use of one parcel, and the urban area that contains the parcel
-- reads: core.parcel, core.urban_area
-- writes: none
-- reruns: section.land_use
-- grain: one row per polygon, and one row per piece of a boundary that contains the point
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
  'meta.coverage.land_use',
  'mapped',
  area.release_id,
  area.member_id,
  area.position,
  null,
  null,
  'boundary of the urban area that contains the representative point'
from parcel
join urban_area as area on st_covers(area.geom, parcel.point);
