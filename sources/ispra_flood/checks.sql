-- purpose: checks of the flood hazard areas of a release
-- reads: layer.flood_hazard, layer.flood_hazard_piece, layer.flood_coverage
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: flood_hazard_in_italy
-- level: error
-- expects: every area is in or around Italy, between 6 and 19 degrees east and 35 and 48 degrees north
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from flood_hazard
where not geom @ st_makeenvelope(6, 35, 19, 48, 4326);

-- check: flood_hazard_pieces_whole
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
  from flood_hazard
) as whole
full join (
  select
    member_id,
    position,
    sum(st_area(geom)) as area
  from flood_hazard_piece
  group by member_id, position
) as piece using (member_id, position)
where whole.area is null
  or piece.area is null
  or abs(whole.area - piece.area) > 1e-6 * whole.area;

-- check: flood_scenarios_complete
-- level: warn
-- expects: a release contains the three scenarios P1, P2 and P3
select
  class
from (values ('P1'), ('P2'), ('P3')) as expected (class)
where not exists (select from flood_coverage where flood_coverage.class = expected.class);

-- check: flood_class_missing
-- level: warn
-- expects: every area states its class
select
  member_id,
  position
from flood_hazard
where class = 'HPH';

-- check: flood_coverage_known
-- level: warn
-- expects: the provinces without the P3 scenario are known for the edition (from the indicators of 2020)
select
  vintage
from release
where vintage <> '2020';
