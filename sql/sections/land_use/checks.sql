-- purpose: checks that no parcel inside a polygon lacks a class
-- reads: core.parcel, section.land_use
-- writes: none
-- incremental: rows of parcels
-- grain: one row per parcel without a class
-- crs: EPSG:4326

-- check: land_use_missed
-- level: error
-- expects: a land parcel that is completely inside a polygon has a class
-- Each piece looks up its parcels in the index of points. Without offset 0, the planner may first find the parcels without a class, which have no index, and
-- compare each of them with every piece.
select
  found.fid
from (
  select
    geom
  from land_use_piece
  where geom && (select st_setsrid(st_extent(geom)::geometry, 4326) from parcel)
  offset 0
) as piece
cross join lateral (
  select
    fid,
    kind,
    geom
  from parcel
  where st_covers(piece.geom, point)
  offset 0
) as found
left join land_use on land_use.fid = found.fid
where land_use.fid is null
  and found.kind = 'land'
  and st_covers(piece.geom, found.geom);
