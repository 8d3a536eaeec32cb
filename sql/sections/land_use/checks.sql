-- purpose: comparison of the section land_use with the polygons
-- reads: core.parcel, section.land_use
-- writes: none
-- incremental: rows of parcels
-- grain: one row per missed parcel
-- crs: EPSG:4326

-- check: land_use_missed
-- level: error
-- expects: a land parcel completely inside a polygon has a class
select
  parcel.fid
from (
  select
    geom
  from land_use_piece
  offset 0
) as piece
join parcel on st_covers(piece.geom, parcel.point)
left join land_use on land_use.fid = parcel.fid
where land_use.fid is null
  and parcel.kind = 'land'
  and st_covers(piece.geom, parcel.geom);
