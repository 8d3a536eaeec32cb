-- purpose: the seismic model around each parcel
-- version: 1
-- reads: core.parcel, layer.pga_node
-- writes: section.shaking
-- incremental: rows of parcels
-- grain: one row per parcel around which the model has a value
-- crs: EPSG:4326; nodes are found by whole multiples of the grid's step

-- Corners of the grid square that contains the point of each parcel, by column and row of the grid.
create table corner as
select
  p.fid,
  g.spacing_deg,
  floor(st_x(p.point) / g.spacing_deg)::int4 + x as ix,
  floor(st_y(p.point) / g.spacing_deg)::int4 + y as iy
from parcel p
cross join (select distinct spacing_deg from pga_node) g
cross join generate_series(0, 1) as x
cross join generate_series(0, 1) as y;

create table shaking as
select
  c.fid,
  min(n.ag_g) as ag_min_g,
  max(n.ag_g) as ag_max_g,
  count(*)::int2 as corners
from corner c
join pga_node n on n.ix = c.ix and n.iy = c.iy and n.spacing_deg = c.spacing_deg
group by c.fid
order by c.fid;

alter table shaking add primary key (fid);

-- evidence
create view evidence as
select
  c.fid,
  'ag_min, ag_max' as field,
  n.ag_g::text as value,
  n.release_id,
  n.member_id,
  n.position,
  n.ag_g as measure,
  'g' as unit,
  'node at a corner of the square that contains the representative point' as rule
from corner c
join pga_node n on n.ix = c.ix and n.iy = c.iy and n.spacing_deg = c.spacing_deg;
