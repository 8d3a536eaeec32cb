-- purpose: the section terrain beside itself
-- reads: section.terrain
-- writes: none
-- grain: one row per parcel that is impossible
-- crs: none

-- check: terrain_in_order
-- level: error
-- expects: of every parcel the least elevation is not above the mean and the mean not above the greatest, and no mean slope is above the steepest
select
  fid
from terrain
where not (
    elevation_min_m <= elevation_mean_m
    and elevation_mean_m <= elevation_max_m
    and coalesce(slope_mean_deg <= slope_max_deg, true)
  );
