-- purpose: checks of the landslide hazard areas of a release
-- reads: layer.landslide_hazard, layer.landslide_hazard_piece
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: landslide_hazard_in_italy
-- level: error
-- expects: every area is in or around Italy, between 6 and 19 degrees east and 35 and 48 degrees north
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from landslide_hazard
where not geom @ st_makeenvelope(6, 35, 19, 48, 4326);

-- check: landslide_hazard_pieces_whole
-- level: error
-- expects: the pieces of an area add up to the area, to a millionth
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
  from landslide_hazard
) as whole
full join (
  select
    member_id,
    position,
    sum(st_area(geom)) as area
  from landslide_hazard_piece
  group by member_id, position
) as piece using (member_id, position)
where whole.area is null
  or piece.area is null
  or abs(whole.area - piece.area) > 1e-6 * whole.area;

-- check: landslide_class_determined
-- level: warn
-- expects: every area has a class; an area that the publisher left unclassified (Pn.d.) makes its parcels not_mapped
select
  member_id,
  position,
  label
from landslide_hazard
where class is null;
