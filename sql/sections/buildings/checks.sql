-- purpose: checks of the buildings of a region's parcels
-- reads: section.buildings
-- writes: none
-- incremental: rows of parcels
-- grain: one row per violation
-- crs: none

-- check: buildings_residential_part
-- level: error
-- expects: there are at most as many residential buildings as buildings
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
-- expects: the built share of a parcel with a footprint is not 0
select
  fid,
  footprint_m2,
  built_share
from buildings
where footprint_m2 <= 0
  or built_share < 0;
