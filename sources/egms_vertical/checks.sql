-- purpose: checks of the cells of a release
-- reads: layer.egms_cell
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: egms_cell_unique
-- level: error
-- expects: a cell of the 100 m grid has one row in a tile's file
select
  member_id,
  ix,
  iy,
  count(*) as rows
from egms_cell
group by member_id, ix, iy
having count(*) > 1;

-- check: egms_pid_unique
-- level: warn
-- expects: a pid names one cell; a pid in two cells means that tiles of different products were mixed
select
  pid,
  count(*) as rows
from egms_cell
group by pid
having min(ix) <> max(ix)
  or min(iy) <> max(iy);

-- check: egms_velocity_plausible
-- level: warn
-- expects: no cell moves faster than 200 mm/year, above which the product loses phase
select
  member_id,
  position,
  mean_velocity_mm_year
from egms_cell
where abs(mean_velocity_mm_year) > 200;
