-- purpose: step of a build that follows overlay.sql: the class with the largest area in each parcel, and the areas that were compared
-- reads: none
-- writes: none
-- grain: largest has one row per parcel, largest_area one row per parcel and area
-- crs: none

-- A class that covers the complete parcel is used first. If the areas of two classes are equal after rounding to 0.01 m², the smaller code is used.
create view largest as
select distinct on (fid)
  fid,
  class as code,
  member_id,
  share
from overlay
order by fid, is_whole desc, round(shared_m2::numeric, 2) desc, class collate "C";

-- If one area covers the complete parcel, the other areas are left out.
create view largest_area as
select
  area.*,
  area.class = largest.code as is_largest
from (
  select
    *,
    bool_or(is_whole) over (partition by fid) as has_whole
  from overlay_area
) as area
join largest using (fid)
where area.is_whole = area.has_whole;
