-- purpose: the nodes around one parcel
-- reads: core.parcel, layer.pga_node
-- writes: none
-- reruns: section.shaking
-- grain: one row per corner that has a node
-- crs: EPSG:4326

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
