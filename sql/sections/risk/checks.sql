-- purpose: checks that no parcel inside a hazard area lacks a level, and that levels and shares are consistent
-- reads: core.parcel, core.coverage, section.risk
-- writes: none
-- incremental: rows of parcels
-- grain: one row per violating parcel
-- crs: EPSG:4326

-- check: floods_missed
-- level: error
-- expects: a parcel that is completely inside a flood hazard area of the file that is used for its comune has a level
-- The query is materialized, so that the file is looked up only for parcels without a level.
with without_level as materialized (
  select
    parcel.fid,
    parcel.belfiore,
    piece.class,
    piece.member_id
  from flood_hazard_piece as piece
  join parcel on st_covers(piece.geom, parcel.point)
  join risk on risk.fid = parcel.fid
  where risk.flood_level is null
    and st_covers(piece.geom, parcel.geom)
)
select
  without_level.fid
from without_level
where not exists (
  select
  from coverage
  join current_member as speaker on speaker.member_id = coverage.member_id
  join current_member as own on own.member_id = without_level.member_id
  where coverage.belfiore = without_level.belfiore
    and (coverage.theme = 'flood_' || without_level.class or without_level.class = 'HPH')
    and own.file_id <> speaker.file_id
);

-- check: landslides_missed
-- level: error
-- expects: a parcel that is completely inside a classified landslide hazard area of the file that is used for its comune has a level
-- The query is materialized, so that the file is looked up only for parcels without a level.
with without_level as materialized (
  select
    parcel.fid,
    parcel.belfiore,
    piece.member_id
  from landslide_hazard_piece as piece
  join parcel on st_covers(piece.geom, parcel.point)
  join risk on risk.fid = parcel.fid
  where risk.landslide_level is null
    and piece.class is not null
    and st_covers(piece.geom, parcel.geom)
)
select
  without_level.fid
from without_level
where not exists (
  select
  from coverage
  join current_member as speaker on speaker.member_id = coverage.member_id
  join current_member as own on own.member_id = without_level.member_id
  where coverage.belfiore = without_level.belfiore
    and coverage.theme = 'landslide'
    and own.file_id <> speaker.file_id
);

-- check: shares_without_level
-- level: error
-- expects: a parcel with a level has a share from 0 to 1, and a parcel without a level has no share
select
  fid
from risk
where (flood_level is null) <> (flood_share is null)
  or (landslide_level is null) <> (landslide_share is null)
  or not coalesce(flood_share, 1) between 0 and 1
  or not coalesce(landslide_share, 1) between 0 and 1;
