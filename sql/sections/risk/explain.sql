-- purpose: the features that determine the section risk of one parcel, and the files used for its comune
-- reads: core.parcel, core.coverage
-- writes: none
-- reruns: section.risk
-- grain: one row per field and source row, and one row per map that covers the comune
-- crs: none

create view hazard_level as
select
  'flood' as map,
  fid,
  level
from flood
union all
select
  'landslide',
  fid,
  level
from landslide;

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
  'most severe zone of the comune, or of all former comuni of a merged comune' as rule
from parcel p
join comune_today t on t.belfiore = p.belfiore
join comune_zone z on z.belfiore = t.current_belfiore
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
  'exact only if the comune and all its former comuni have the same single zone'
from parcel p
join comune_today t on t.belfiore = p.belfiore
join comune_label z on z.belfiore = t.current_belfiore
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
  'node of the grid cell around the representative point in ED50 (transformation EPSG:1133), weighted by the inverse of its distance'
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
  'nearest node within 5 km in ED50 (transformation EPSG:1133), used because the grid cell around the point has no node'
from pga_edge
union all
select
  area.fid,
  case area.map when 'flood' then 'flood_level' else 'landslide_level' end,
  area.class,
  area.release_id,
  area.member_id,
  area.position,
  area.shared_m2,
  'm2',
  'area shared with the parcel; the most severe class that shares at least 1 m² (or half of a parcel below 2 m²) is used'
from overlay_area as area
join hazard_level as hazard using (map, fid)
union all
select
  area.fid,
  case area.map when 'flood' then 'flood_share' else 'landslide_share' end,
  area.class,
  area.release_id,
  area.member_id,
  area.position,
  area.shared_m2 / area.parcel_m2,
  'of the parcel',
  'share of the parcel in areas of the level''s class; overlaps count once'
from overlay_area as area
join hazard_level as hazard using (map, fid)
where area.class = hazard.level
union all
select
  fid,
  'landslide_attention',
  class,
  release_id,
  member_id,
  position,
  shared_m2,
  'm2',
  'area of attention; counts if all areas of attention share at least 1 m² in total (or half of a parcel below 2 m²)'
from overlay_area
where map = 'landslide'
  and class = 'AA'
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
  'newest file that covers the comune: a file with at least 15 regions, or a file with an area that shares at least 1 m² with the comune'
from parcel p
join coverage c on c.belfiore = p.belfiore
where c.mapped;
