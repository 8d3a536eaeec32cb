-- purpose: the features that made the section risk of one parcel, and the files that speak for its comune
-- reads: core.parcel, core.coverage
-- writes: none
-- reruns: section.risk
-- grain: one row per feature; one per map that covers the comune
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
  p.fid,
  'seismic_zone_exact',
  z.label,
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'exact where the comune, and each that it was merged from, has this one zone'
from parcel p
join comune_label z on z.belfiore = p.belfiore
where z.edition = 1
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
  'node of the cell around the representative point in ED50 (EPSG:1133), weighted by the inverse of its distance'
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
  'nearest node within 5 km in ED50 (EPSG:1133), where the cell around has none'
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
  'area shared with the parcel; the worst class of which 1 m² (half of a parcel below 2 m²) is shared counts'
from flood_share s
where shared_m2 > 0
  and exists (select from flood f where f.fid = s.fid)
group by fid, class, release_id, member_id, position
union all
select
  s.fid,
  'flood_share',
  s.class,
  s.release_id,
  s.member_id,
  s.position,
  sum(s.shared_m2) / min(s.parcel_m2),
  'of the parcel',
  'part of the parcel in an area of the level''s class; what several areas share counts once'
from flood_share s
join flood f on f.fid = s.fid and f.level = s.class
where s.shared_m2 > 0
group by s.fid, s.class, s.release_id, s.member_id, s.position
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
  'area shared with the parcel; the worst class of which 1 m² (half of a parcel below 2 m²) is shared counts'
from landslide_share s
where shared_m2 > 0
  and exists (select from landslide l where l.fid = s.fid)
group by fid, class, release_id, member_id, position
union all
select
  s.fid,
  'landslide_share',
  s.class,
  s.release_id,
  s.member_id,
  s.position,
  sum(s.shared_m2) / min(s.parcel_m2),
  'of the parcel',
  'part of the parcel in an area of the level''s class; what several areas share counts once'
from landslide_share s
join landslide l on l.fid = s.fid and l.level = s.class
where s.shared_m2 > 0
group by s.fid, s.class, s.release_id, s.member_id, s.position
union all
select
  fid,
  'landslide_attention',
  class,
  release_id,
  member_id,
  position,
  sum(shared_m2),
  'm2',
  'area of attention; 1 m² (half of a parcel below 2 m²) of all of them counts'
from landslide_share
where shared_m2 > 0
  and class = 'AA'
group by fid, class, release_id, member_id, position
union all
select
  p.fid,
  case when c.theme = 'landslide' then 'coverage.landslide' else 'coverage.flood' end,
  case when c.theme = 'landslide' then 'landslide' else replace(c.theme, 'flood_', '') end,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'newest file that covers the comune: it reaches 15 regions of Italy, or an area of it shares 1 m² with the comune'
from parcel p
join coverage c on c.belfiore = p.belfiore
where c.mapped;
