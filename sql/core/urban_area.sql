-- purpose: boundaries of the urban areas that the Urban Atlas maps in a region
-- version: 2
-- reads: core.parcel, layer.urban_boundary_piece
-- writes: core.urban_area
-- incremental: content, from the outline of the parcels
-- grain: one row per piece of a boundary that intersects the box of the region's parcels
-- crs: EPSG:4326

create table urban_area as
select
  region.code as region_code,
  piece.release_id,
  piece.member_id,
  piece.position,
  piece.geom
from urban_boundary_piece as piece
cross join region
where piece.geom && (select st_setsrid(st_extent(geom)::geometry, 4326) from parcel)
order by piece.member_id, piece.position, piece.geom;

-- serves: the urban area of a parcel's point
create index on urban_area using gist (geom);
