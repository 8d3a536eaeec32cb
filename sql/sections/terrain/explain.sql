-- purpose: the raster cells from which the section terrain of one parcel is computed, and the rasters that contain the parcel's point
-- reads: core.parcel, core.raster_tile
-- writes: none
-- reruns: section.terrain
-- grain: one row per run of cells in a raster row, and one row per raster
-- crs: EPSG:4326

create view evidence as
select
  r.id::int4 as fid,
  'elevation, slope, ruggedness_index, tri_mean, aspect_predominant' as field,
  'row ' || r.row_number || ', column ' || concat_ws('–', r.first_column, nullif(r.last_column, r.first_column)) as value,
  r.release_id,
  r.member_id,
  r.position,
  r.last_column - r.first_column + 1 as measure,
  'cells' as unit,
  'cells whose centre is in the parcel, or else the cell that contains the representative point, with row and column in the raster, from 0 in the north-west' as rule
from relief_run r
join chosen c on c.id = r.id
  and c.turn = r.turn
union all
select
  p.fid,
  'meta.coverage.terrain',
  t.name,
  t.release_id,
  t.member_id,
  t.position,
  null,
  null,
  'raster that contains the representative point'
from parcel p
join raster_tile t on t.section = 'terrain'
  and st_covers(t.geom, p.point);
