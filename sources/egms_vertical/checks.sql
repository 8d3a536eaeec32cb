-- purpose: checks the cells of a release
-- reads: layer.egms_cell
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: egms_cell_unique
-- level: error
-- expects: a tile's file has one row per cell of the 100 m grid
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
-- expects: each pid names one cell; otherwise tiles of different products were mixed
select
  pid,
  count(*) as rows
from egms_cell
group by pid
having min(ix) <> max(ix)
  or min(iy) <> max(iy);

-- check: egms_velocity_plausible
-- level: warn
-- expects: no cell moves faster than 200 mm/year, because higher velocities are unreliable
select
  member_id,
  position,
  mean_velocity_mm_year
from egms_cell
where abs(mean_velocity_mm_year) > 200;
