-- purpose: of which editions of the yields a region's parcels have theirs
-- cites: gsa_pvout
-- reads: core.parcel, core.raster_tile, section.solar
-- writes: none
-- grain: one row per source and vintage
-- crs: EPSG:4326

select distinct
  t.source_id,
  m.vintage
from raster_tile t
join member_in_force m on m.member_id = t.member_id
where t.section = 'solar'
  and exists (
    select
    from parcel p
    join solar s on s.fid = p.fid
    where st_covers(t.geom, p.point)
      and s.pvout_kwh_per_kwp is not null
  );
