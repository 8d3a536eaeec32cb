-- purpose: checks of the land cover of a release
-- reads: layer.land_cover_polygon, layer.land_cover_piece
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: land_cover_near_italy
-- level: error
-- expects: every polygon has a part within two degrees of Italy, between 4 and 21 degrees east and 33 and 49.5 degrees north
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from land_cover_polygon
where not geom && st_makeenvelope(4, 33, 21, 49.5, 4326);

-- check: land_cover_pieces_whole
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
  from land_cover_polygon
) as whole
full join (
  select
    member_id,
    position,
    sum(st_area(geom)) as area
  from land_cover_piece
  group by member_id, position
) as piece using (member_id, position)
where whole.area is null
  or piece.area is null
  or abs(whole.area - piece.area) > 1e-6 * whole.area;

-- check: land_cover_polygon_repeated
-- level: warn
-- expects: a polygon is in a file once; a repeated polygon counts once in the share of a parcel
select
  member_id,
  clc_id,
  count(*) as polygons
from land_cover_polygon
where clc_id is not null
group by member_id, clc_id
having count(*) > 1;
