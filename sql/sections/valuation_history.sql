-- purpose: the OMI zones of each parcel over 22 half-years
-- version: 1
-- reads: core.parcel, core.quotation, core.quotation_zone, layer.omi_perimeter
-- writes: section.valuation_history
-- carries: rows of parcels
-- grain: one row per parcel and run of half-years in one zone
-- crs: EPSG:4326

-- The 22 half-years 2015/1–2025/2, or the latest 22 once there are newer quotations (half-years as numbers: year × 2 + half − 1).
create table valuation_window as
select
  (last - 21)::int2 as first,
  last
from (
  select greatest(2025 * 2 + 1, coalesce(max(half_year), 0))::int2 as last
  from quotation
) w;

-- Most perimeters are the same in many half-years: each shape is asked for its parcels once.
create table perimeter_shape as
with near as (
  select
    p.half_year,
    p.belfiore,
    p.zona,
    p.geom,
    p.release_id,
    p.member_id,
    p.position,
    md5(st_asbinary(p.geom)) as digest
  from (
    -- Several releases may have a half-year: comune by comune the perimeters that were generated last count.
    select
      *,
      rank() over (partition by half_year, belfiore order by generated desc nulls last, release_id desc) as edition
    from omi_perimeter
    -- All perimeters of a comune, or none: which half-year is its newest, and which have any, does not hang on where the parcels lie.
    where belfiore in (select belfiore from parcel)
      or belfiore in (
        select belfiore
        from omi_perimeter
        where geom && (select st_setsrid(st_extent(point)::geometry, 4326) from parcel)
      )
  ) p
  where p.edition = 1
),
newest as (
  select
    belfiore,
    max(half_year) as half_year
  from near
  group by belfiore
)
select
  row_number() over (order by n.belfiore collate "C", n.zona collate "C", min(n.half_year))::int4 as shape_id,
  n.belfiore,
  n.zona,
  array_agg(n.half_year order by n.half_year) as half_years,
  max(n.half_year) = min(w.half_year) as is_newest,
  (array_agg(n.geom order by n.half_year))[1] as geom,
  -- Of equal shapes the newest is cited.
  (array_agg(n.release_id order by n.half_year desc))[1] as release_id,
  (array_agg(n.member_id order by n.half_year desc))[1] as member_id,
  (array_agg(n.position order by n.half_year desc))[1] as position
from near n
join newest w on w.belfiore = n.belfiore
cross join valuation_window v
where n.half_year between v.first and v.last
  or n.half_year = w.half_year
group by n.belfiore, n.zona, n.digest;

create table perimeter_piece as
select
  shape_id,
  st_subdivide(geom, 256) as geom
from perimeter_shape
order by shape_id;

-- Gives the planner sizes: pieces of perimeters drive, parcels follow through their index.
analyze perimeter_shape;
analyze perimeter_piece;

-- Parcels that lie in the same shapes share one history.
create table parcel_shapes as
select
  p.fid,
  p.belfiore as parcel_belfiore,
  array_agg(distinct s.shape_id order by s.shape_id) as shape_ids
from perimeter_piece s
join parcel p on st_covers(s.geom, p.point)
where p.kind = 'land'
group by p.fid, p.belfiore;

create table shape_set as
select
  row_number() over (order by parcel_belfiore collate "C", shape_ids)::int4 as set_id,
  parcel_belfiore,
  shape_ids
from parcel_shapes
group by parcel_belfiore, shape_ids;

create table set_run as
with candidate as (
  select
    t.set_id,
    s.shape_id,
    s.belfiore,
    s.zona,
    s.half_years,
    s.is_newest,
    -- At a border drawn twice the parcel's own comune counts, then the first code.
    row_number() over (partition by t.set_id order by s.belfiore <> t.parcel_belfiore, s.belfiore collate "C", s.zona collate "C", s.shape_id) as preference
  from shape_set t
  join perimeter_shape s on s.shape_id = any (t.shape_ids)
),
current_zone as (
  select distinct on (set_id)
    set_id,
    belfiore,
    zona
  from candidate
  where is_newest
  order by set_id, preference
),
drawn as (
  select distinct
    s.belfiore,
    h.half_year
  from perimeter_shape s
  cross join unnest(s.half_years) as h (half_year)
),
then_by_perimeter as (
  select distinct on (c.set_id, h.half_year)
    c.set_id,
    h.half_year,
    c.belfiore,
    c.zona
  from candidate c
  cross join unnest(c.half_years) as h (half_year)
  order by c.set_id, h.half_year, c.preference
),
timeline as (
  select
    z.set_id,
    h.half_year,
    z.belfiore,
    z.zona,
    case when p.zona is not null then p.belfiore when d.belfiore is null then k.belfiore end as then_belfiore,
    case when p.zona is not null then p.zona when d.belfiore is null then k.zona end as then_zona
  from current_zone z
  join shape_set t on t.set_id = z.set_id
  cross join valuation_window v
  cross join generate_series(v.first::int4, v.last::int4) as h (half_year)
  left join then_by_perimeter p on p.set_id = z.set_id and p.half_year = h.half_year
  -- Perimeters of then exist and none contains the point: no zone.
  left join drawn d on d.belfiore = t.parcel_belfiore and d.half_year = h.half_year
  left join quotation_zone k on k.belfiore = z.belfiore and k.zona = z.zona and k.half_year = h.half_year
),
marked as (
  select
    *,
    half_year - row_number() over (partition by set_id, then_belfiore, then_zona order by half_year) as run
  from timeline
)
select
  set_id,
  min(half_year)::int2 as since,
  max(half_year)::int2 as until,
  belfiore,
  zona,
  then_belfiore,
  then_zona
from marked
group by set_id, belfiore, zona, then_belfiore, then_zona, run;

create table valuation_history as
select
  p.fid,
  r.since,
  r.until,
  r.belfiore,
  r.zona,
  r.then_belfiore,
  r.then_zona
from parcel_shapes p
join shape_set t on t.parcel_belfiore = p.parcel_belfiore and t.shape_ids = p.shape_ids
join set_run r on r.set_id = t.set_id
order by p.fid, r.since;

alter table valuation_history add primary key (fid, since);
