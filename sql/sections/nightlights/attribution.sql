-- purpose: of which years a region's parcels have their radiance
-- cites: viirs_nightlights
-- reads: core.parcel, core.raster_tile, section.nightlights
-- writes: none
-- grain: one row per source and vintage
-- crs: EPSG:4326

select distinct
  t.source_id,
  m.vintage
from raster_tile t
join member_in_force m on m.member_id = t.member_id
where t.section = 'nightlights'
  and exists (
    select
    from parcel p
    join nightlights s on s.fid = p.fid
    where st_covers(t.geom, p.point)
      and s.ntl_year::text = left(m.vintage, 4)
  );
