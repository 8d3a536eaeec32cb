-- purpose: the raster cells and the source of buildings from which the section solar of one parcel is computed, and the rasters that contain the parcel's point
-- reads: core.parcel, core.building_coverage, core.raster_tile
-- writes: none
-- reruns: section.solar
-- grain: one row per cell, one row for the source of buildings, and one row per raster
-- crs: EPSG:4326

create view evidence as
select
  r.id::int4 as fid,
  'pvout_kwh_per_kwp' as field,
  'row ' || r.row_number || ', column ' || r.first_column as value,
  r.release_id,
  r.member_id,
  r.position,
  null::float8 as measure,
  null as unit,
  'one of the four cells around the representative point, with row and column in the raster, from 0 in the north-west' as rule
from pvout_run r
join solar s on s.fid = r.id and s.pvout_kwh_per_kwp is not null
union all
select
  p.fid,
  case when s.fid is null then 'available' else 'n_buildings, roof_area_m2, kwp_max_total' end,
  c.source,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'source of the comune''s buildings'
from parcel p
join building_coverage c on c.belfiore = p.belfiore
left join solar s on s.fid = p.fid
where p.kind = 'land'
  and c.source is not null
union all
select
  p.fid,
  'meta.coverage.solar',
  t.name,
  t.release_id,
  t.member_id,
  t.position,
  null,
  null,
  'raster that contains the representative point'
from parcel p
join raster_tile t on t.section = 'solar'
  and st_covers(t.geom, p.point);
