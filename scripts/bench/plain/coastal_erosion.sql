-- purpose: the five nearest shore segments within a kilometre of each parcel, in plain PostGIS
-- reads: core.parcel, plain.shore
-- writes: plain.coastal_erosion
-- grain: one row per parcel and segment
-- crs: EPSG:4326; distances are geodesic (geography)

create table plain.coastal_erosion as
select
  fid,
  ordinal::int2 as ordinal,
  dynamic,
  distance_m
from (
  select
    p.fid,
    s.dynamic,
    round(s.distance_m::numeric, 2)::float8 as distance_m,
    row_number() over (partition by p.fid order by round(s.distance_m::numeric, 2), s.change_m_year nulls last, s.dynamic collate "C") as ordinal
  from core.parcel p
  cross join lateral (
    select
      shore.dynamic,
      case
        when shore.avg_change_m_year is not null then round(shore.avg_change_m_year::numeric, 2)
        when shore.dynamic = 'stable' then 0
      end as change_m_year,
      st_distance(shore.geog, p.geom::geography) as distance_m
    from plain.shore as shore
    where st_dwithin(shore.geog, p.geom::geography, 1000)
  ) s
) near
where ordinal <= 5
order by fid, ordinal;

alter table plain.coastal_erosion add primary key (fid, ordinal);
