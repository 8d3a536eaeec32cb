-- purpose: checks that the values of the section terrain are consistent
-- reads: section.terrain
-- writes: none
-- incremental: rows of parcels
-- grain: one row per violating parcel
-- crs: none

-- check: terrain_in_order
-- level: error
-- expects: the smallest elevation of a parcel is at most the mean, the mean is at most the largest elevation, and the mean slope is at most the largest slope
select
  fid
from terrain
where not (
    elevation_min_m <= elevation_mean_m
    and elevation_mean_m <= elevation_max_m
    and coalesce(slope_mean_deg <= slope_max_deg, true)
  );
