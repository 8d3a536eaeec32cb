-- purpose: repairs footprints, reprojects them once, and records the province of each member
-- reads: staging.raw_dbsn_building
-- writes: layer.dbsn_building, layer.dbsn_extent
-- grain: one row per published polygon, and one row per member
-- crs: from the layer's CRS to EPSG:4326

-- Edges are split into segments of at most 10 m before they are reprojected. See core.in_degrees. The rows are sorted along a Hilbert curve, so that
-- neighbouring rows are close together on disk.
create table dbsn_building as
with clean as materialized (
  select
    member_id,
    position,
    use,
    type,
    state,
    level,
    name,
    origin,
    counts,
    residential,
    core.valid_polygons(core.in_degrees(geom, 10)) as geom
  from raw_dbsn_building
)
select
  release.release_id,
  clean.member_id,
  clean.position,
  clean.use,
  clean.type,
  clean.state,
  clean.level,
  clean.name,
  clean.origin,
  clean.counts,
  clean.residential,
  core.area_m2(clean.geom) as area_m2,
  core.drawing(clean.geom) as drawing,
  clean.geom::geometry(multipolygon, 4326) as geom
from clean
cross join release
where core.drawing(clean.geom) is not null
order by clean.geom, clean.member_id, clean.position;

-- serves: section buildings, for the footprints that intersect a region's box
create index dbsn_building_geom_idx on dbsn_building using gist (geom);

create table dbsn_extent as
select
  release.release_id,
  held.member_id,
  held.position,
  nullif(core.comune_key(coalesce(
    substring(member.path from '(?i)([^/]*?)[ _-]*dbsn[^/]*\.gdb'),
    substring(member.file_name from '(?i)^(.*?)[ _-]*dbsn')
  )), '') as province
from (
  select
    member_id,
    min(position) as position
  from dbsn_building
  group by member_id
) as held
join member using (member_id)
cross join release
order by held.member_id;
