-- purpose: repairs footprints and reprojects them once
-- reads: staging.raw_dpc_building
-- writes: layer.dpc_building
-- grain: one row per published polygon
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 10 m before they are reprojected. See core.in_degrees. The rows are sorted along a Hilbert curve, so that
-- neighbouring rows are close together on disk.
create table dpc_building as
with clean as materialized (
  select
    member_id,
    position,
    aggregate_id,
    istat_code,
    core.valid_polygons(core.in_degrees(geom, 10)) as geom
  from raw_dpc_building
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.aggregate_id,
  clean.istat_code,
  core.area_m2(clean.geom) as area_m2,
  core.drawing(clean.geom) as drawing,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where core.drawing(clean.geom) is not null
order by clean.geom, clean.member_id, clean.position;

-- serves: section buildings, for the footprints that intersect a region's box
create index dpc_building_geom_idx on dpc_building using gist (geom);
