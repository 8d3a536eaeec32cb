-- purpose: which editions of the elevation models a region's parcels have values of
-- cites: tinitaly_dem, copernicus_dem
-- reads: core.parcel, core.raster_tile, section.terrain
-- writes: none
-- grain: one row per source and vintage
-- crs: EPSG:4326

select distinct
  t.source_id,
  m.vintage
from raster_tile t
join member_in_force m on m.member_id = t.member_id
where t.section = 'terrain'
  and exists (
    select
    from parcel p
    join terrain s on s.fid = p.fid
    where st_covers(t.geom, p.point)
      and s.source_id = t.source_id
  );
