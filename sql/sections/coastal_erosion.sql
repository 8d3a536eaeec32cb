-- purpose: shoreline change near each parcel
-- version: 1
-- reads: core.parcel, layer.shoreline_segment
-- writes: section.coastal_erosion
-- carries: rows of parcels
-- grain: one row per parcel and segment within 1,000 m, at most the five nearest per parcel
-- crs: EPSG:4326; distances are geodesic (geography)

-- Segments run along the shore for kilometres: their pieces have small boxes. Segments without information say nothing and take no place.
create table shore_piece as
select
  member_id,
  position,
  st_subdivide(geom, 32) as geom
from shoreline_segment
where dynamic is not null
  and geom && (
    select st_expand(st_setsrid(st_extent(parcel.geom)::geometry, 4326), 0.015, 0.010)
    from parcel
  );

analyze shore_piece;

-- The box is widened by at least 1,000 m (a degree of latitude has 110.9 km or more in Italy; one of longitude 111.3 km times the cosine, here of
-- a latitude 0.1 degree further north), so that the index offers every parcel that the exact distance may accept.
create table shore_distance as
select
  parcel.fid,
  piece.member_id,
  piece.position,
  min(st_distance(parcel.geom::geography, piece.geom::geography)) as distance_m
from shore_piece as piece
join parcel
  on parcel.geom && st_expand(piece.geom, 1000 / (111320 * cos(radians(st_ymax(piece.geom) + 0.1))), 1000 / 110900.0)
group by parcel.fid, piece.member_id, piece.position;

create view shore_rank as
select
  near.fid,
  segment.release_id,
  segment.member_id,
  segment.position,
  segment.dynamic,
  round(segment.avg_change_m_year::numeric, 2)::float8 as avg_change_m_year,
  round(near.distance_m::numeric, 2)::float8 as distance_m,
  row_number() over (
    partition by near.fid
    order by round(near.distance_m::numeric, 2), near.member_id, near.position
  ) as ordinal
from shore_distance as near
join shoreline_segment as segment
  on segment.member_id = near.member_id
  and segment.position = near.position
where round(near.distance_m::numeric, 2) <= 1000;

create table coastal_erosion as
select
  fid,
  ordinal::int2 as ordinal,
  dynamic,
  avg_change_m_year,
  case
    when avg_change_m_year is null then null
    when avg_change_m_year >= 0 then 0
    when avg_change_m_year > -0.5 then 1
    when avg_change_m_year > -1 then 2
    when avg_change_m_year > -2 then 3
    else 4
  end::int2 as severity_index,
  distance_m
from shore_rank
where ordinal <= 5
order by fid, ordinal;

alter table coastal_erosion add primary key (fid, ordinal);
alter table coastal_erosion alter column dynamic set not null;
alter table coastal_erosion alter column distance_m set not null;
