-- purpose: checks that no parcel inside a polygon lacks a class
-- reads: core.parcel, section.land_use
-- writes: none
-- incremental: rows of parcels
-- grain: one row per missed parcel
-- crs: EPSG:4326

-- check: land_use_missed
-- level: error
-- expects: a land parcel that is completely inside a polygon has a class
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
