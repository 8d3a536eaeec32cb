-- purpose: the features that made the section risk of one parcel
-- reads: core.parcel
-- writes: none
-- reruns: section.risk
-- grain: one row per feature
-- crs: none

create view evidence as
select
  p.fid,
  'seismic_zone' as field,
  z.label as value,
  z.release_id,
  z.member_id,
  z.position,
  null::float8 as measure,
  null as unit,
  'zone of the comune, its most severe digit; of the comuni that it was merged from, the most severe' as rule
from parcel p
join comune_zone z on z.belfiore = p.belfiore
union all
select
  fid,
  'pga',
  ag_g::text,
  release_id,
  member_id,
  position,
  distance_m,
  'm',
  'node of the cell around the representative point, weighted by the inverse of its distance'
from pga_share
union all
select
  fid,
  'pga',
  pga_g::text,
  release_id,
  member_id,
  position,
  distance_m,
  'm',
  'nearest node within 5 km, where the cell around has none'
from pga_edge
union all
select
  fid,
  'flood_level',
  class,
  release_id,
  member_id,
  position,
  sum(shared_m2),
  'm2',
  'area shared with the parcel; the worst class that shares 1 m² (half of a parcel below 2 m²) counts'
from flood_share
where shared_m2 > 0
group by fid, class, release_id, member_id, position
union all
select
  fid,
  'landslide_level',
  class,
  release_id,
  member_id,
  position,
  sum(shared_m2),
  'm2',
  'area shared with the parcel; the worst class that shares 1 m² (half of a parcel below 2 m²) counts'
from landslide_share
where shared_m2 > 0
group by fid, class, release_id, member_id, position;
