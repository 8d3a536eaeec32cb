-- purpose: checks the land cover of a release
-- reads: layer.land_cover_polygon
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: land_cover_polygon_repeated
-- level: warn
-- expects: a file has each polygon once; a repeated polygon counts once in the share of a parcel
select
  member_id,
  clc_id,
  count(*) as polygons
from land_cover_polygon
where clc_id is not null
group by member_id, clc_id
having count(*) > 1;
