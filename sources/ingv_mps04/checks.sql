-- purpose: checks the nodes of a release
-- reads: layer.pga_node
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: pga_node_unique
-- level: error
-- expects: a file has one node per position of the grid
select
  file_id,
  ix,
  iy,
  count(*) as rows
from pga_node
join member using (member_id)
group by file_id, ix, iy
having count(*) > 1;

-- check: pga_node_smooth
-- level: warn
-- expects: neighbouring nodes differ by less than 0.05 g; a larger difference means that columns are shifted or that the unit is wrong
select
  a.ix,
  a.iy,
  a.ag_g,
  b.ag_g as ag_east_g
from pga_node as a
join pga_node as b
  on b.member_id = a.member_id
  and b.ix = a.ix + 1
  and b.iy = a.iy
where abs(a.ag_g - b.ag_g) > 0.05;
