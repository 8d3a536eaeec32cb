-- purpose: which editions of the model a region's parcels have values of
-- cites: ingv_mps04
-- reads: section.shaking
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'ingv_mps04' as source_id,
  vintage
from shaking;
