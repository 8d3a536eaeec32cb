-- purpose: comuni that the land cover map covers, with the file that covers each comune
-- version: 2
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary, layer.land_cover_piece, layer.land_cover_reach
-- writes: core.land_coverage
-- incremental: content, from the outline of the parcels
-- grain: one row per comune; empty if there is no current file
-- crs: EPSG:4326; shared areas of a polygon and a comune are measured in EPSG:3035

-- A file that covers at least 15 of the 20 regions is the map of Italy. Any other file covers only the comuni that have polygons in the file.
create table source_file as
select
  file.file_id,
  min(file.rank) as rank,
  (array_agg(reach.release_id order by reach.member_id))[1] as release_id,
  (array_agg(reach.member_id order by reach.member_id))[1] as member_id,
  (array_agg(reach.position order by reach.member_id))[1] as position,
  count(distinct reached.region_code) >= 15 as is_national
from land_cover_reach as reach
join current_member as file using (member_id)
left join lateral unnest(reach.regions) as reached (region_code) on true
group by file.file_id;

-- The comuni of core.comune_register, and other comuni that have parcels.
create table place as
select
  mine.belfiore
from (
  select belfiore from comune_register
  union
  select belfiore from parcel
) as mine
where exists (select from source_file);

-- step: comune_boundary.sql

-- Empty if every file is the map of Italy.
create table boundary_piece as
select
  drawn.belfiore,
  piece.geom
from comune_boundary as drawn
cross join lateral core.area_pieces(drawn.geom) as piece (geom)
where exists (select from source_file where not is_national);

-- serves: the polygons in a comune
create index on boundary_piece (belfiore);

create table undrawn as
select belfiore
from place
where not exists (select from boundary_piece where boundary_piece.belfiore = place.belfiore);

-- The table boundary_piece is not analyzed, and the query for comuni without a boundary has offset 0, to prevent the use of statistics in joins of geometries.
-- If a map has no feature near the region, these statistics give a wrong row estimate, and the statement aborts on PGlite.
create view shared_piece as
select
  boundary_piece.belfiore,
  file.file_id,
  cover.member_id,
  cover.position,
  core.area_m2(
    case
      when st_covers(boundary_piece.geom, cover.geom) then cover.geom
      else st_intersection(boundary_piece.geom, cover.geom, core.overlay_grid(1e-10))
    end
  ) as shared_m2
from boundary_piece
join land_cover_piece as cover on cover.geom && boundary_piece.geom
join current_member as file using (member_id);

-- A comune is covered if it shares at least 1 m² with one piece. If no piece does, the shared areas of the pieces of each polygon are summed.
create table met as
select
  asked.file_id,
  asked.belfiore
from (
  select
    source_file.file_id,
    drawn.belfiore
  from source_file
  cross join (select distinct belfiore from boundary_piece) as drawn
  where not source_file.is_national
) as asked
left join lateral (
  select true as here
  from shared_piece as piece
  where piece.belfiore = asked.belfiore
    and piece.file_id = asked.file_id
    and piece.shared_m2 >= 1
  limit 1
) as single on true
left join lateral (
  select true as here
  from shared_piece as piece
  where single.here is null
    and piece.belfiore = asked.belfiore
    and piece.file_id = asked.file_id
  group by piece.member_id, piece.position
  having sum(piece.shared_m2) >= 1
  limit 1
) as summed on true
where single.here
  or summed.here
union
-- A comune without a boundary is covered if one of its parcels is covered.
select
  source_file.file_id,
  parcel.belfiore
from source_file
join current_member as file using (file_id)
join (
  select
    member_id,
    geom
  from land_cover_piece
  where exists (select from undrawn)
  offset 0
) as cover on cover.member_id = file.member_id
join parcel on st_covers(cover.geom, parcel.point)
where not source_file.is_national
  and parcel.belfiore in (select belfiore from undrawn);

create table land_coverage as
with speaker as (
  select distinct on (place.belfiore)
    place.belfiore,
    source_file.release_id,
    source_file.member_id,
    source_file.position
  from source_file
  cross join place
  where source_file.is_national
    or exists (
      select
      from met
      where met.file_id = source_file.file_id
        and met.belfiore = place.belfiore
    )
  order by place.belfiore, source_file.rank
)
select
  region.code as region_code,
  place.belfiore,
  speaker.member_id is not null as mapped,
  speaker.release_id,
  speaker.member_id,
  speaker.position
from place
cross join region
left join speaker using (belfiore)
order by place.belfiore collate "C";

alter table land_coverage add primary key (region_code, belfiore);
