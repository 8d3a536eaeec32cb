-- purpose: step of an explanation that follows largest.sql: the polygons that determine the class with the largest area in each parcel
-- reads: none
-- writes: none
-- grain: one row per parcel and polygon, and a second row for each polygon of the class
-- crs: none

create view largest_evidence as
select
  fid,
  'code' as field,
  class as value,
  release_id,
  member_id,
  position,
  shared_m2 as measure,
  'm2' as unit,
  'area shared with the parcel; the class with the largest area is used, or the class with the smaller code if the areas rounded to 0.01 m² are equal' as rule
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
where is_largest;
