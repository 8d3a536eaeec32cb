-- purpose: the polygons that determine the section land_use of one parcel, and the urban area that contains the parcel
-- reads: core.parcel, core.urban_area
-- writes: none
-- reruns: section.land_use
-- grain: one row per polygon, and one row per piece of a boundary that contains the point
-- crs: none

-- step: largest_evidence.sql

create view evidence as
select *
from largest_evidence
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
