-- purpose: checks that no parcel inside a polygon lacks a class, and that each class has only one name
-- reads: core.parcel, core.land_coverage, section.land_cover
-- writes: none
-- incremental: rows of parcels
-- grain: one row per parcel without a class, or per class with several names
-- crs: EPSG:4326

-- check: land_cover_missed
-- level: error
-- expects: a land parcel that is completely inside a polygon of its comune's file has a class
-- The map has no gaps, so few parcels have no class, and the join starts from these parcels. The layer has no index, so only polygons that overlap the bounding
-- box of these parcels are compared.
with unclassed as materialized (
  select
    parcel.fid,
    parcel.belfiore,
    parcel.geom
  from parcel
  left join land_cover using (fid)
  where land_cover.fid is null
    and parcel.kind = 'land'
),
near as materialized (
  select
    piece.member_id,
    piece.geom
  from land_cover_piece as piece
  where piece.geom && (select st_setsrid(st_extent(geom)::geometry, 4326) from unclassed)
)
select
  unclassed.fid
from unclassed
join near as piece on st_covers(piece.geom, unclassed.geom)
where not exists (
  select
  from land_coverage as coverage
  join current_member as speaker on speaker.member_id = coverage.member_id
  join current_member as own on own.member_id = piece.member_id
  where coverage.belfiore = unclassed.belfiore
    and own.file_id <> speaker.file_id
);

-- check: land_cover_class_repeated
-- level: error
-- expects: each class has only one name
-- Finds the names of each class first, because counting distinct names would sort all parcels.
select code
from (
  select distinct
    code,
    description
  from parcel
  join land_cover using (fid)
) named
group by code
having count(description) > 1;
