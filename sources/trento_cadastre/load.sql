-- purpose: merges pieces into parcels, separates roofs, and loads boundaries
-- reads: staging.raw_piece, staging.raw_boundary
-- writes: layer.trento_parcel, layer.trento_piece, layer.trento_building, layer.trento_boundary, reject
-- grain: one row per parcel, per further piece of a parcel, per roof piece, and per boundary
-- crs: from the file's CRS to EPSG:4326

-- Repair invalid geometries. Sort the rings, because their order depends on the version of GEOS.
create unlogged table repaired as
select
  member_id,
  position,
  st_normalize(st_multi(st_collectionextract(st_makevalid(geom), 3))) as geom
from raw_piece
where not st_isvalid(geom)
union all
select
  member_id,
  position,
  st_normalize(st_multi(st_collectionextract(st_makevalid(geom), 3)))
from raw_boundary
where not st_isvalid(geom);

create table reject as
select
  m.member_id,
  m.position,
  'geometry_empty' as code,
  'expected a polygon with an area, found ' || st_isvalidreason(r.geom) as message,
  r.reference || ' ' || st_asewkt(r.geom) as raw
from repaired m
join (
  select member_id, position, ccat || '.' || code as reference, geom from raw_piece
  union all
  select member_id, position, ccat, geom from raw_boundary
) r using (member_id, position)
where st_isempty(m.geom);

-- A parcel has one piece of type P and any number of pieces of type C. The row of the parcel has the position of the P piece, or of the first piece
-- if there is no P.
create unlogged table piece as
select
  p.member_id,
  p.position,
  p.ccat,
  p.code,
  p.roof,
  m.member_id is not null as made_valid,
  st_multi(coalesce(m.geom, p.geom)) as geom,
  row_number() over parcel as nth,
  count(*) over (partition by p.member_id, p.ccat, p.code) as pieces
from raw_piece p
left join repaired m using (member_id, position)
where not coalesce(st_isempty(m.geom), false)
window parcel as (partition by p.member_id, p.ccat, p.code order by p.type <> 'P', p.position);

-- The pieces of each parcel are merged. Most pieces of a parcel touch each other and share their corners. Edges are split into segments of at most 200 m before
-- they are reprojected. See core.in_degrees. Neighbouring polygons are split at the same points.
create table trento_parcel as
with drawn as (
  select
    p.member_id,
    p.position,
    p.ccat,
    p.code,
    p.roof,
    p.pieces,
    coalesce(u.made_valid, p.made_valid) as made_valid,
    coalesce(u.geom, p.geom) as geom
  from piece p
  left join (
    select
      member_id,
      ccat,
      code,
      bool_or(made_valid) as made_valid,
      st_normalize(st_multi(st_union(geom order by nth))) as geom
    from piece
    where pieces > 1
    group by member_id, ccat, code
  ) u using (member_id, ccat, code)
  where p.nth = 1
)
select
  release.release_id,
  d.member_id,
  d.position,
  d.ccat,
  d.code,
  'IT.TN.' || d.ccat || '.' || d.code as reference,
  d.roof,
  d.pieces::int4 as pieces,
  st_area(d.geom) as drawn_area_m2,
  d.made_valid,
  core.in_degrees(d.geom, 200)::geometry(multipolygon, 4326) as geom
from drawn d
cross join release;

create table trento_piece as
select
  release.release_id,
  p.member_id,
  p.position,
  p.ccat,
  p.code,
  p.roof
from piece p
cross join release
where p.nth > 1;

create table trento_building as
select
  release.release_id,
  p.member_id,
  p.position,
  p.ccat,
  p.code,
  'IT.TN.' || p.ccat || '.' || p.code as reference,
  core.in_degrees(p.geom, 200)::geometry(multipolygon, 4326) as geom
from piece p
cross join release
where p.roof = 'S';

create table trento_boundary as
select
  release.release_id,
  b.member_id,
  b.position,
  b.ccat,
  b.name,
  b.name_other,
  b.istat_code,
  b.comune_name,
  b.comune_name_other,
  b.parcels,
  st_area(coalesce(m.geom, b.geom)) as drawn_area_m2,
  st_multi(core.in_degrees(coalesce(m.geom, b.geom), 200))::geometry(multipolygon, 4326) as geom
from raw_boundary b
cross join release
left join repaired m using (member_id, position)
where not coalesce(st_isempty(m.geom), false);

drop table repaired, piece;
