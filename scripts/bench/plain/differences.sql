-- purpose: counts, by section, the parcels whose values differ from the results of the plain scripts by more than rounding errors
-- reads: section.risk, section.subsidence, section.coastal_erosion, section.demographics, section.land_cover, plain.risk, plain.subsidence, plain.coastal_erosion, plain.demographics, plain.land_cover
-- writes: plain.difference
-- grain: one row per section, with the number of parcels and the number of differing parcels
-- crs: none

-- Shares have 6 decimals, accelerations in g have 4, and motions in mm and distances in m have 2. The last decimal may differ by one, because sums in a
-- different order have different rounding errors. Shares of flood, landslide and land cover may differ by 0.00001.
create table plain.difference as
select
  'risk' as section,
  count(*) as parcels,
  count(*) filter (
    where ours.fid is null
      or plain.fid is null
      or ours.flood_level is distinct from plain.flood_level
      or ours.landslide_level is distinct from plain.landslide_level
      or abs(coalesce(ours.flood_share, 0) - coalesce(plain.flood_share, 0)) > 0.00001
      or abs(coalesce(ours.landslide_share, 0) - coalesce(plain.landslide_share, 0)) > 0.00001
      or abs(coalesce(ours.pga_g, 0) - coalesce(plain.pga_g, 0)) > 0.00011
  ) as differing
from section.risk as ours
full join plain.risk as plain on plain.fid = ours.fid
union all
select
  'subsidence',
  count(*),
  count(*) filter (
    where ours.fid is null
      or plain.fid is null
      or ours.cells <> plain.cells
      or abs(ours.velocity_mm_year - plain.velocity_mm_year) > 0.011
      or abs(ours.acceleration_mm_year2 - plain.acceleration_mm_year2) > 0.011
  )
from section.subsidence as ours
full join plain.subsidence as plain on plain.fid = ours.fid
union all
select
  'coastal_erosion',
  count(distinct coalesce(ours.fid, plain.fid)),
  count(distinct coalesce(ours.fid, plain.fid)) filter (
    where ours.fid is null
      or plain.fid is null
      or ours.dynamic <> plain.dynamic
      or abs(ours.distance_m - plain.distance_m) > 0.011
  )
from section.coastal_erosion as ours
full join plain.coastal_erosion as plain
  on plain.fid = ours.fid
  and plain.ordinal = ours.ordinal
union all
select
  'demographics',
  count(*),
  count(*) filter (
    where ours.fid is null
      or plain.fid is null
      or ours.section_id <> plain.section_id
      or abs(ours.parcel_share - plain.parcel_share) > 0.0000011
  )
from section.demographics as ours
full join plain.demographics as plain on plain.fid = ours.fid
union all
select
  'land_cover',
  count(*),
  count(*) filter (
    where ours.fid is null
      or plain.fid is null
      or ours.code <> plain.code
      or abs(ours.share - plain.share) > 0.00001
  )
from section.land_cover as ours
full join plain.land_cover as plain on plain.fid = ours.fid;
