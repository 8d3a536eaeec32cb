-- purpose: loads each boundary once, repaired and reprojected to EPSG:4326
-- reads: staging.raw_boundary
-- writes: layer.boundary
-- grain: one row per unit and level
-- crs: from the file's CRS to EPSG:4326

-- Edges are split into segments of at most 200 m before they are reprojected. See core.in_degrees. Neighbouring polygons share their edges, so the
-- shared edges are split at the same points.
create unlogged table ranked as
select
  b.member_id,
  b.position,
  b.kind,
  b.code,
  b.belfiore,
  b.name,
  b.vintage,
  core.in_degrees(b.geom, 200) as geom,
  -- If a file contains a unit twice (generalised and detailed), the detailed boundary is kept.
  row_number() over (partition by m.file_id, b.kind, b.code order by st_npoints(b.geom) desc, b.member_id, b.position) as nth
from raw_boundary b
join member m using (member_id);

create unlogged table clean as
select
  member_id,
  position,
  kind,
  code,
  belfiore,
  name,
  vintage,
  not st_isvalid(geom) as made_valid,
  st_multi(case when st_isvalid(geom) then geom else st_normalize(st_collectionextract(st_makevalid(geom), 3)) end) as geom
from ranked
where nth = 1;

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
from clean c
cross join release r
where not st_isempty(c.geom);

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
