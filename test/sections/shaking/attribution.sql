-- purpose: the edition of the model that gives a parcel's values
-- cites: ingv_mps04
-- reads: section.shaking
-- writes: none
-- grain: one row per vintage
-- crs: none

select distinct
  vintage as key,
  'ingv_mps04' as source_id,
  vintage
from shaking;
