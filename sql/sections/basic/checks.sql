-- purpose: each parcel that was read is published
-- reads: core.comune_catastale
-- writes: none
-- grain: one row per offence
-- crs: none

-- check: comune_catastale_without_comune
-- level: error
-- expects: the list of comuni has the comune of each comune catastale; it must be loaded, and as new as the map
select
  prefix,
  name,
  name_other
from comune_catastale
where belfiore is null;
