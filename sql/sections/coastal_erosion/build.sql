-- purpose: shoreline change near each parcel
-- version: 3
-- reads: core.parcel, core.shore_piece
-- writes: section.coastal_erosion
-- incremental: rows of parcels
-- grain: one row per parcel and segment within 1,000 m, at most the five nearest per parcel
-- crs: EPSG:4326; distances are geodesic (geography)

-- The box of each piece of the shore is widened by at least 1,000 m, so the index returns every parcel within 1,000 m. In Italy, a degree of latitude is at
-- least 110.9 km long, and a degree of longitude is 111.3 km times the cosine of the latitude, computed 0.1 degree further north. Segments without information
-- are skipped and are not counted among the five nearest.
create view shore_pair as
select
  parcel.fid,
  piece.release_id,
  piece.member_id,
  piece.position,
  piece.dynamic,
  piece.avg_change_m_year,
  file.may_be_cut,
  parcel.geom as parcel_geom,
  piece.geom as piece_geom,
  -- Distance in metres in a plane where a degree of longitude is as long as a degree of latitude.
  111000 * st_distance(st_scale(parcel.geom, shrink.x, 1), st_scale(piece.geom, shrink.x, 1)) as plane_m
from shore_piece as piece
join current_member as file using (member_id)
cross join lateral (select cos(radians(st_ymax(piece.geom))) as x) as shrink
join parcel
  on parcel.geom && st_expand(piece.geom, 1000 / (111320 * cos(radians(st_ymax(piece.geom) + 0.1))), 1000 / 110900.0)
where piece.dynamic is not null;

create unlogged table shore_fifth as
select
  fid,
  plane_m
from (
  select
    fid,
    min(plane_m) as plane_m,
    row_number() over (partition by fid order by min(plane_m)) as ordinal
  from shore_pair
  group by fid, release_id, member_id, position
) as near
where ordinal = 5;

analyze shore_fifth;

-- A geodesic distance takes twenty times longer than a distance in the plane, so segments that cannot be among the five nearest are left out first. In Italy,
-- the two distances differ by less than 1 %, plus 8 m for an edge of 20 km, because the edge has a different shape in the plane and on the ellipsoid.
create unlogged table shore_distance as
select
  pair.fid,
  pair.release_id,
  pair.member_id,
  pair.position,
  pair.dynamic,
  pair.avg_change_m_year,
  pair.may_be_cut,
  round(min(st_distance(pair.parcel_geom::geography, pair.piece_geom::geography))::numeric, 2)::float8 as distance_m
from shore_pair as pair
left join shore_fifth as fifth using (fid)
where pair.plane_m <= least(1000, fifth.plane_m) * 1.01 + 10
group by pair.fid, pair.release_id, pair.member_id, pair.position, pair.dynamic, pair.avg_change_m_year, pair.may_be_cut;

-- A stable segment without a published mean has the mean 0. Segments at equal distance are sorted by their values, most severe first.
create view shore_rank as
select
  near.*,
  row_number() over (
    partition by near.fid
    order by near.distance_m, near.change_m_year nulls last, near.dynamic collate "C"
  ) as ordinal
from (
  select
    fid,
    release_id,
    member_id,
    position,
    dynamic,
    avg_change_m_year is not null as is_measured,
    case
      when avg_change_m_year is not null then round(avg_change_m_year::numeric, 2)::float8
      when dynamic = 'stable' then 0
    end as change_m_year,
    may_be_cut,
    distance_m
  from shore_distance
  where distance_m <= 1000
) as near;

create table coastal_erosion as
select
  fid,
  ordinal::int2 as ordinal,
  dynamic,
  change_m_year as avg_change_m_year,
  case
    when change_m_year is null then null
    when change_m_year >= 0 then 0
    when change_m_year > -0.5 then 1
    when change_m_year > -1 then 2
    when change_m_year > -2 then 3
    else 4
  end::int2 as severity_index,
  distance_m,
  may_be_cut
from shore_rank
where ordinal <= 5
order by fid, ordinal;

alter table coastal_erosion add primary key (fid, ordinal);
alter table coastal_erosion alter column dynamic set not null;
alter table coastal_erosion alter column distance_m set not null;
alter table coastal_erosion alter column may_be_cut set not null;
