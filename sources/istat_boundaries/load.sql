-- purpose: loads each boundary once, repaired and reprojected to EPSG:4326
-- reads: staging.raw_boundary
-- writes: layer.boundary
-- grain: one row per unit and level
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 200 m before they are reprojected. See core.in_degrees. Neighbouring polygons share their edges, so the
-- shared edges are split at the same points.
create unlogged table clean as
with reprojected as materialized (
  select
    b.member_id,
    b.position,
    m.file_id,
    b.kind,
    b.code,
    b.belfiore,
    b.name,
    b.vintage,
    st_npoints(b.geom) as points,
    core.in_degrees(b.geom, 200) as geom
  from raw_boundary b
  join member m using (member_id)
)
select
  member_id,
  position,
  file_id,
  kind,
  code,
  belfiore,
  name,
  vintage,
  points,
  not st_isvalid(geom) as made_valid,
  st_multi(case when st_isvalid(geom) then geom else st_normalize(st_collectionextract(st_makevalid(geom), 3)) end) as geom
from reprojected;

-- If a file contains a unit twice (generalised and detailed), the detailed boundary is kept. Boundaries without an area are rejected.
create unlogged table ranked as
select
  c.*,
  row_number() over (partition by c.file_id, c.kind, c.code order by c.points desc, c.member_id, c.position) as nth
from clean c
where not st_isempty(c.geom);

create table boundary as
select
  r.release_id,
  c.member_id,
  c.position,
  c.kind,
  c.code,
  c.belfiore,
  c.name,
  c.vintage,
  core.area_m2(c.geom) as area_m2,
  c.made_valid,
  c.geom::geometry(multipolygon, 4326) as geom
from ranked c
cross join release r
where c.nth = 1;

create table reject as
select
  c.member_id,
  c.position,
  'geometry_without_area' as code,
  'expected a polygon with an area, found a polygon that is empty after the repair' as message,
  c.kind || ' ' || c.code || ' ' || left(st_asewkt(b.geom), 2000) as raw
from clean c
join raw_boundary b using (member_id, position)
where st_isempty(c.geom);

create table duplicate as
select
  member_id,
  position,
  'unit_repeated' as code
from ranked
where nth > 1;

drop table ranked, clean;
