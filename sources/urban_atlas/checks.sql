-- purpose: checks of the land use of a release
-- reads: layer.land_use_polygon, layer.land_use_piece, layer.urban_boundary
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: land_use_near_italy
-- level: error
-- expects: every polygon has a part within two degrees of Italy, between 4 and 21 degrees east and 33 and 49.5 degrees north
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from land_use_polygon
where not geom && st_makeenvelope(4, 33, 21, 49.5, 4326);

-- check: land_use_pieces_whole
-- level: error
-- expects: the pieces of a polygon add up to the polygon, to a millionth
select
  member_id,
  position,
  whole.area as whole_deg2,
  piece.area as pieces_deg2
from (
  select
    member_id,
    position,
    st_area(geom) as area
  from land_use_polygon
) as whole
full join (
  select
    member_id,
    position,
    sum(st_area(geom)) as area
  from land_use_piece
  group by member_id, position
) as piece using (member_id, position)
where whole.area is null
  or piece.area is null
  or abs(whole.area - piece.area) > 1e-6 * whole.area;

-- check: land_use_bounded
-- level: warn
-- expects: a file has the boundary of its urban area; without the boundary, every parcel without land use is not_mapped
select distinct
  member.file_name
from land_use_polygon
join member using (member_id)
where not exists (
  select
  from urban_boundary
  join member as bound using (member_id)
  where bound.file_id = member.file_id
);
