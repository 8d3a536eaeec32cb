-- purpose: the elevation model from which a parcel's values come
-- cites: tinitaly_dem, copernicus_dem
-- reads: core.raster_tile, section.terrain
-- writes: none
-- incremental: rows of parcels
-- grain: one row per model and vintage
-- crs: none

select distinct
  t.source_id as key,
  t.source_id,
  m.vintage
from raster_tile t
join current_member m on m.member_id = t.member_id
where t.section = 'terrain'
  and t.source_id in (select distinct source_id from terrain);
