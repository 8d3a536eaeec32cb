-- purpose: checks the land use of a release
-- reads: layer.land_use_polygon, layer.urban_boundary
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: land_use_bounded
-- level: warn
-- expects: a file contains the boundary of its urban area; without a boundary, every parcel without land use is not_mapped
select distinct
  member.file_name
from land_use_polygon
join member using (member_id)
where not exists (
  select
  from urban_boundary
  join member as bound using (member_id)
  where bound.file_id = member.file_id
);
