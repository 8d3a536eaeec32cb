-- purpose: the lists that contain a parcel's points, and the address archive that located some of the points
-- cites: mim_schools, salute_pharmacies, mimit_fuel, mic_places, anncsu_addresses, postal_codes
-- reads: core.point_of_interest, core.access_point, section.cultural_heritage
-- writes: none
-- grain: one row per key, source and vintage
-- crs: none

create view shown_point as
select
  fid,
  id
from cultural_heritage;

-- step: cited_points.sql
