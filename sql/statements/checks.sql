-- purpose: checks that several sources apply to their layers; each query returns the violating rows
-- reads: none
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- statement: within
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from :"layer"
where not geom @ st_makeenvelope(:'west', :'south', :'east', :'north', 4326)

-- statement: overlaps
select
  member_id,
  position,
  st_xmin(geom) as west,
  st_ymin(geom) as south
from :"layer"
where not geom && st_makeenvelope(:'west', :'south', :'east', :'north', 4326)

-- statement: pieces
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
  from :"layer"
) as whole
full join (
  select
    member_id,
    position,
    sum(st_area(geom)) as area
  from :"pieces"
  group by member_id, position
) as piece using (member_id, position)
where whole.area is null
  or piece.area is null
  or abs(whole.area - piece.area) > 1e-6 * whole.area

-- statement: area
select
  member_id,
  position,
  area_m2
from :"layer"
where area_m2 < :'least'
  or area_m2 > :'most'

-- statement: grid
select
  tile.member_id,
  tile.position,
  tile.name,
  tile.west,
  tile.north
from :"layer" as tile
cross join (
  select
    west,
    north
  from :"layer"
  order by name collate "C", member_id
  limit 1
) as origin
cross join lateral (
  select
    (tile.west - origin.west) / tile.cell_width as columns_apart,
    (tile.north - origin.north) / tile.cell_height as rows_apart
) as apart
where abs(columns_apart - round(columns_apart)) > 0.001
  or abs(rows_apart - round(rows_apart)) > 0.001
