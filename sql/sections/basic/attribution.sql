-- purpose: which editions the postal codes of a region's parcels are of
-- cites: postal_codes
-- reads: section.postal_code
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'postal_codes' as source_id,
  coalesce(edition, '') as vintage
from postal_code;
