-- purpose: pieces of the shore in and around the region, each with its comune
-- version: 1
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary, layer.shoreline_segment, layer.shoreline_coverage
-- writes: core.shore_piece
-- incremental: content, from the outline of the parcels
-- grain: one row per piece of a current segment
-- crs: EPSG:4326; lengths and distances are geodesic (geography)

-- A file with segments in at least 15 of the 20 regions covers the whole shore of Italy, unless the export may be truncated. Any other file covers only the
-- comuni that have a segment in the file.
create table shore_file as
select
  file.file_id,
  min(file.rank) as rank,
  count(distinct reached.region_code) >= 15 and not bool_or(file.may_be_cut) as is_national
from shoreline_coverage as coverage
join current_member as file using (member_id)
left join lateral unnest(coverage.regions) as reached (region_code) on true
group by file.file_id;

-- Segments run along the shore for kilometres and cross borders of comuni. A piece is at most 1,000 m long, so that it belongs to one comune and has a small
-- box.
create table part as
select
  segment.release_id,
  segment.member_id,
  segment.position,
  segment.dynamic,
  segment.avg_change_m_year,
  file.file_id,
  file.rank,
  row_number() over () as part_id,
  st_linesubstring(line.geom, (n - 1) / cut.parts::float8, n / cut.parts::float8)::geometry(linestring, 4326) as geom,
  st_lineinterpolatepoint(line.geom, (n - 0.5) / cut.parts) as middle
from shoreline_segment as segment
join current_member as file using (member_id)
cross join lateral st_dump(segment.geom) as line
cross join lateral (select ceil(st_length(line.geom::geography) / 1000)::int4 as parts) as cut
cross join lateral generate_series(1, cut.parts) as n
where segment.geom && (
  select st_expand(st_setsrid(st_extent(parcel.geom)::geometry, 4326), 0.015, 0.010)
  from parcel
);

-- Pieces whose comune must be found. Empty if a single file covers the complete shore. In Italy, a degree of latitude is at least 110.9 km long, and a degree
-- of longitude is 111.3 km times the cosine of the latitude. The cosine is computed slightly further north, so that the box is never too small.
create table asked as
select
  part_id,
  middle,
  st_expand(middle, 1000 / (111320 * cos(radians(st_y(middle) + 0.1))), 1000 / 110900.0) as box
from part
where (select count(*) > 1 or not bool_and(is_national) from shore_file);

-- A boundary of an earlier year has the ISTAT code of that year, so former codes are matched too. If several editions have a comune, the newest edition is
-- used. For comuni of other regions, only the name is needed.
create table drawn as
select
  coalesce(meaning.belfiore, boundary.belfiore) as belfiore,
  coalesce(meaning.belfiore, boundary.belfiore, boundary.code) as name,
  boundary.member_id,
  boundary.position,
  rank() over (partition by coalesce(meaning.belfiore, boundary.belfiore, boundary.code) order by file.rank) as edition
from boundary
join current_member as file using (member_id)
left join (
  select
    old_istat_code as code,
    belfiore,
    divided
  from comune_register
  union
  select
    istat_code,
    belfiore,
    false
  from comune_code
) as meaning on meaning.code = boundary.code
where boundary.kind = 'comune'
  and meaning.divided is distinct from true
  -- If the list of comuni is not loaded, comuni of other regions cannot be recognised.
  and (meaning.belfiore is not null or boundary.belfiore is not null or exists (select from comune_code));

create table boundary_piece as
select
  drawn.name,
  drawn.belfiore,
  piece.geom
from drawn
join boundary using (member_id, position)
cross join lateral core.area_pieces(boundary.geom) as piece (geom)
where drawn.edition = 1
  and exists (select from asked where asked.box && boundary.geom);

-- serves: the comuni near a piece of shore
create index on boundary_piece using gist (geom);
analyze boundary_piece;

-- If a comune has no boundary, distances are measured to the comune's parcels.
create table undrawn as
select distinct belfiore
from parcel
where not exists (select from drawn where drawn.belfiore = parcel.belfiore)
  and exists (select from asked);

create table lies as
select distinct on (part_id)
  part_id,
  belfiore,
  name
from (
  select
    asked.part_id,
    near.belfiore,
    near.name,
    round(st_distance(near.geom::geography, asked.middle::geography)::numeric, 2) as distance_m
  from asked
  join boundary_piece as near on near.geom && asked.box
  union all
  select
    asked.part_id,
    near.belfiore,
    near.belfiore,
    round(st_distance(near.geom::geography, asked.middle::geography)::numeric, 2)
  from asked
  -- The distance in metres to the parcel nearest in degrees is an upper limit. All nearer parcels are in a box of this size.
  cross join lateral (
    select st_distance(parcel.geom::geography, asked.middle::geography) as m
    from parcel
    where parcel.geom && asked.box
      and parcel.belfiore in (select belfiore from undrawn)
    order by parcel.geom <-> asked.middle
    limit 1
  ) as most
  join parcel as near
    on near.geom && st_expand(asked.middle, (most.m + 0.01) / (111320 * cos(radians(st_y(asked.middle) + 0.1))), (most.m + 0.01) / 110900.0)
  where exists (select from undrawn)
    and near.belfiore in (select belfiore from undrawn)
) as candidate
where distance_m <= 1000
order by part_id, distance_m, name collate "C";

-- Selects for each comune the newest file that covers the comune. A segment without information does not cover a comune.
create table speaker as
select
  place.name,
  min(file.rank) as rank
from (
  select name from lies
  union
  -- Adds the pieces without a comune.
  select null
) as place
join shore_file as file
  on file.is_national
  or exists (
    select
    from lies
    join part using (part_id)
    where lies.name = place.name
      and part.file_id = file.file_id
      and part.dynamic is not null
  )
group by place.name;

create table shore_piece as
select
  region.code as region_code,
  lies.belfiore,
  part.dynamic,
  part.avg_change_m_year,
  part.release_id,
  part.member_id,
  part.position,
  part.geom
from part
cross join region
left join lies using (part_id)
left join speaker on speaker.name is not distinct from lies.name
where part.rank = coalesce(speaker.rank, part.rank)
order by part.member_id, part.position;
