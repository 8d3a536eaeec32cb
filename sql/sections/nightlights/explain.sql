-- purpose: the cells from which the section nightlights of one parcel is computed, the boundary of its comune, and the rasters that contain the parcel's point
-- reads: core.parcel, core.raster_tile
-- writes: none
-- reruns: section.nightlights
-- grain: one row per run of cells in a raster row, one row per boundary, and one row per raster
-- crs: EPSG:4326

create view evidence as
select
  c.fid,
  'ntl_parcel' as field,
  'row ' || r.row_number || ', column ' || r.first_column as value,
  r.release_id,
  r.member_id,
  r.position,
  c.value as measure,
  'nW cm⁻² sr⁻¹' as unit,
  'cell that contains the representative point, with row and column in the raster, from 0 in the north-west' as rule
from radiance_run r
join chosen c on c.fid = r.id
  and c.turn = r.turn
union all
select
  c.fid,
  'ntl_mean_comune',
  'row ' || r.row_number || ', column ' || concat_ws('–', r.first_column, nullif(r.last_column, r.first_column)),
  r.release_id,
  r.member_id,
  r.position,
  r.last_column - r.first_column + 1,
  'cells',
  'cells whose centre is inside the boundary of the comune, or else the cell at the comune''s point'
from comune_radiance_run r
join chosen c on c.outline_id = r.id
  and c.mean_turn = r.turn
union all
select
  c.fid,
  'ntl_mean_comune',
  o.belfiore,
  o.release_id,
  o.member_id,
  o.position,
  null,
  null,
  'boundary of the comune in the newest file that has the comune'
from outline o
join chosen c on c.outline_id = o.id
join nightlights s on s.fid = c.fid and s.ntl_mean_comune is not null
union all
select
  p.fid,
  'meta.coverage.nightlights',
  t.name,
  t.release_id,
  t.member_id,
  t.position,
  null,
  null,
  'raster that contains the representative point'
from parcel p
join raster_tile t on t.section = 'nightlights'
  and st_covers(t.geom, p.point)
union all
select
  p.fid,
  'available',
  t.name,
  t.release_id,
  t.member_id,
  t.position,
  null,
  null,
  'raster without a value at the representative point'
from parcel p
join raster_tile t on t.section = 'nightlights'
  and st_covers(t.geom, p.point)
where p.kind = 'land'
  and not exists (select from nightlights s where s.fid = p.fid);
