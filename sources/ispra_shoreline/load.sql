-- purpose: reprojects segments once and records the covered regions
-- reads: staging.raw_shoreline_segment, core.region_box
-- writes: layer.shoreline_segment, layer.shoreline_coverage
-- grain: one row per published segment; one per member
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 200 m before they are reprojected. See core.in_degrees.
create table shoreline_segment as
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.dynamic,
  raw.avg_change_m_year,
  st_multi(core.in_degrees(raw.geom, 200))::geometry(multilinestring, 4326) as geom
from raw_shoreline_segment as raw
cross join release
where st_length(raw.geom) > 0
order by raw.member_id, raw.position;

create table reject as
select
  member_id,
  position,
  'geometry_without_length' as code,
  'expected a line with a length, found a line whose points are all equal' as message,
  left(st_asewkt(geom), 2000) as raw
from raw_shoreline_segment
where not st_length(geom) > 0;

-- serves: section coastal_erosion, for the segments that intersect a region's box
create index shoreline_segment_geom_idx on shoreline_segment using gist (geom);

create table shoreline_coverage as
with reached as (
  select
    segment.member_id,
    array_agg(distinct box.region_code order by box.region_code) as regions
  from shoreline_segment as segment
  join core.region_box as box
    on segment.geom && box.geom
    and st_intersects(segment.geom, box.geom)
  group by segment.member_id
)
select
  release.release_id,
  held.member_id,
  min(held.position) as position,
  coalesce(reached.regions, '{}') as regions
from shoreline_segment as held
cross join release
left join reached using (member_id)
group by release.release_id, held.member_id, reached.regions
order by held.member_id;
