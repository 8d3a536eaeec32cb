-- purpose: checks of the buildings of a region's parcels
-- reads: section.buildings
-- writes: none
-- incremental: rows of parcels
-- grain: one row per violation
-- crs: none

-- check: buildings_residential_part
-- level: error
-- expects: the number and footprint of residential buildings are at most the number and footprint of all buildings
select
  fid,
  count,
  residential_count,
  footprint_m2,
  residential_footprint_m2
from buildings
where residential_count > count
  or residential_footprint_m2 > footprint_m2 + 0.01;

-- check: buildings_footprint_built
-- level: error
-- expects: the footprint is above 0, and the built share is not negative
select
  fid,
  footprint_m2,
  built_share
from buildings
where footprint_m2 <= 0
  or built_share < 0;
