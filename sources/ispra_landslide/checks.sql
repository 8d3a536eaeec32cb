-- purpose: checks the landslide hazard areas of a release
-- reads: layer.landslide_hazard
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: landslide_class_determined
-- level: warn
-- expects: every area has a class. If a parcel overlaps only areas without a class (Pn.d.), its coverage is not_mapped
select
  member_id,
  position,
  label
from landslide_hazard
where class is null;
