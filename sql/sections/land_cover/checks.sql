-- purpose: the section land_cover beside the polygons themselves
-- reads: core.parcel, core.land_coverage, section.land_cover
-- writes: none
-- incremental: rows of parcels
-- grain: one row per parcel that was missed
-- crs: EPSG:4326

-- check: land_cover_missed
-- level: error
-- expects: a land parcel whose point lies in a polygon, of the file that speaks for its comune, has a class
select
  parcel.fid
from (
  select
    member_id,
    geom
  from land_cover_piece
  offset 0
) as piece
join parcel on st_covers(piece.geom, parcel.point)
left join land_cover on land_cover.fid = parcel.fid
where land_cover.fid is null
  and parcel.kind = 'land'
  and st_covers(piece.geom, parcel.geom)
  and not exists (
    select
    from land_coverage as coverage
    join member_in_force as speaker on speaker.member_id = coverage.member_id
    join member_in_force as own on own.member_id = piece.member_id
    where coverage.belfiore = parcel.belfiore
      and own.file_id <> speaker.file_id
  );

-- check: land_cover_class_repeated
-- level: error
-- expects: a class has one name
select
  code
from land_cover
group by code
having count(distinct description) > 1;
