-- purpose: comuni that the flood and landslide maps cover, with the file that covers each comune
-- version: 2
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary, layer.flood_coverage, layer.flood_hazard_piece, layer.landslide_coverage, layer.landslide_hazard_piece
-- writes: core.coverage
-- incremental: content, from the outline of the parcels
-- grain: one row per comune and theme that has a current file
-- crs: EPSG:4326; shared areas of a hazard area and a comune are measured in EPSG:3035

-- A file that covers at least 15 of the 20 regions is a map of Italy, so a comune without areas in the file has no hazard areas. Any other file covers only the
-- comuni that have areas in the file. An export that may be incomplete covers no comune.
create table source_file as
select
  held.theme,
  held.file_id,
  min(held.rank) as rank,
  (array_agg(held.release_id order by held.member_id, held.position))[1] as release_id,
  (array_agg(held.member_id order by held.member_id, held.position))[1] as member_id,
  (array_agg(held.position order by held.member_id, held.position))[1] as position,
  count(distinct reached.region_code) >= 15 and not bool_or(held.may_be_cut) as is_national,
  bool_or(held.may_be_cut) as may_be_cut,
  min(held.missing_provinces) as missing_provinces
from (
  select
    'flood_' || coverage.class as theme,
    file.file_id,
    file.rank,
    file.may_be_cut,
    coverage.release_id,
    coverage.member_id,
    coverage.position,
    coverage.regions,
    coverage.missing_provinces
  from flood_coverage as coverage
  join current_member as file using (member_id)
  where coverage.class <> 'HPH'
  union all
  select
    'landslide',
    file.file_id,
    file.rank,
    file.may_be_cut,
    coverage.release_id,
    coverage.member_id,
    coverage.position,
    coverage.regions,
    '{}'::text[]
  from landslide_coverage as coverage
  join current_member as file using (member_id)
) as held
left join lateral unnest(held.regions) as reached (region_code) on true
group by held.theme, held.file_id;

-- The comuni of core.comune_register, and other comuni that have parcels.
create table place as
select
  mine.belfiore,
  min(code.province_historic_code) as province_code
from (
  select belfiore from comune_register
  union
  select belfiore from parcel
) as mine
left join comune_code as code using (belfiore)
group by mine.belfiore;

-- step: comune_boundary.sql

-- Empty if every file is a map of Italy or may be incomplete.
create table boundary_piece as
select
  drawn.belfiore,
  piece.geom
from comune_boundary as drawn
cross join lateral core.area_pieces(drawn.geom) as piece (geom)
where exists (select from source_file where not is_national and not may_be_cut);

analyze boundary_piece;

create view area_piece as
select
  'flood_' || class as theme,
  member_id,
  position,
  geom
from flood_hazard_piece
union all
select
  'landslide',
  member_id,
  position,
  geom
from landslide_hazard_piece;

-- Pairs the boundaries of all comuni with the hazard areas at once, because a query per comune would read all hazard areas each time.
create unlogged table meeting_piece as
select
  boundary_piece.belfiore,
  area.theme,
  file.file_id,
  area.member_id,
  area.position,
  boundary_piece.geom as boundary_geom,
  area.geom as area_geom
from boundary_piece
join area_piece as area on area.geom && boundary_piece.geom
join current_member as file using (member_id)
where (area.theme, file.file_id) in (select theme, file_id from source_file where not is_national and not may_be_cut);

-- serves: the areas that intersect a comune
create index on meeting_piece (belfiore, theme, file_id);
analyze meeting_piece;

create view shared_piece as
select
  belfiore,
  theme,
  file_id,
  member_id,
  position,
  core.area_m2(
    case
      when st_covers(boundary_geom, area_geom) then area_geom
      else st_intersection(boundary_geom, area_geom, core.overlay_grid(1e-10))
    end
  ) as shared_m2
from meeting_piece;

create table undrawn as
select belfiore
from place
where not exists (select from boundary_piece where boundary_piece.belfiore = place.belfiore);

-- A comune is covered if it shares at least 1 m² with one piece. If no piece does, the shared areas of the pieces of each hazard area are summed.
create table met as
select
  asked.theme,
  asked.file_id,
  asked.belfiore
from (
  select
    source_file.theme,
    source_file.file_id,
    drawn.belfiore
  from source_file
  cross join (select distinct belfiore from boundary_piece) as drawn
  where not source_file.is_national
    and not source_file.may_be_cut
) as asked
left join lateral (
  select true as here
  from shared_piece as piece
  where piece.belfiore = asked.belfiore
    and piece.theme = asked.theme
    and piece.file_id = asked.file_id
    and piece.shared_m2 >= 1
  limit 1
) as single on true
left join lateral (
  select true as here
  from shared_piece as piece
  where single.here is null
    and piece.belfiore = asked.belfiore
    and piece.theme = asked.theme
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
  source_file.theme,
  source_file.file_id,
  parcel.belfiore
from source_file
join current_member as file using (file_id)
join area_piece as area
  on area.member_id = file.member_id
  and area.theme = source_file.theme
join parcel on st_covers(area.geom, parcel.point)
where not source_file.is_national
  and not source_file.may_be_cut
  and exists (select from undrawn)
  and parcel.belfiore in (select belfiore from undrawn);

create table coverage as
with spoken as (
  select
    place.belfiore,
    source_file.*
  from source_file
  cross join place
  where case
    when source_file.is_national then
      -- The province of a comune outside the ISTAT list is unknown, so the comune may be in a province that is not mapped.
      not coalesce(
        place.province_code = any (source_file.missing_provinces),
        exists (select from place as other where other.province_code = any (source_file.missing_provinces))
          or (cardinality(source_file.missing_provinces) > 0 and not exists (select from place as other where other.province_code is not null))
      )
    else exists (
      select
      from met
      where met.theme = source_file.theme
        and met.file_id = source_file.file_id
        and met.belfiore = place.belfiore
    )
  end
),
speaker as (
  select distinct on (theme, belfiore)
    *
  from spoken
  order by theme, belfiore, rank
)
select
  region.code as region_code,
  known.theme,
  place.belfiore,
  speaker.member_id is not null as mapped,
  speaker.release_id,
  speaker.member_id,
  speaker.position
from (select distinct theme from source_file) as known
cross join place
cross join region
left join speaker
  on speaker.theme = known.theme
  and speaker.belfiore = place.belfiore
order by known.theme collate "C", place.belfiore collate "C";

alter table coverage add primary key (region_code, theme, belfiore);
