-- purpose: the section risk beside the hazard areas themselves
-- reads: core.parcel, section.risk
-- writes: none
-- carries: rows of parcels
-- grain: one row per parcel that was missed
-- crs: EPSG:4326

-- check: floods_missed
-- level: error
-- expects: a parcel that lies wholly in a flood hazard area has a level
select
  parcel.fid
from flood_hazard_piece as piece
join parcel on st_covers(piece.geom, parcel.point)
join risk on risk.fid = parcel.fid
where risk.flood_level is null
  and st_covers(piece.geom, parcel.geom);

-- check: landslides_missed
-- level: error
-- expects: a parcel that lies wholly in a landslide hazard area with a class has a level
select
  parcel.fid
from landslide_hazard_piece as piece
join parcel on st_covers(piece.geom, parcel.point)
join risk on risk.fid = parcel.fid
where risk.landslide_level is null
  and piece.class is not null
  and st_covers(piece.geom, parcel.geom);
