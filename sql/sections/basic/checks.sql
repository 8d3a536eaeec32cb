-- purpose: checks that the comune of each loaded parcel is known, so that the parcel is published
-- reads: core.comune_catastale
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: comune_catastale_without_comune
-- level: error
-- expects: the list of comuni contains the comune of each comune catastale; if not, load a list that is as new as the map
select
  prefix,
  name,
  name_other
from comune_catastale
where belfiore is null;
