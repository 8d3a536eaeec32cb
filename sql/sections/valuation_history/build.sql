-- purpose: the OMI zones of each parcel in 22 half-years
-- version: 2
-- reads: core.parcel, core.quotation, core.quotation_zone, core.quoted_comune, layer.omi_perimeter
-- writes: section.valuation_history
-- incremental: rows of parcels
-- grain: one row per parcel and run of consecutive half-years in the same zone
-- crs: EPSG:4326

-- The 22 half-years 2015/1–2025/2, or the latest 22 half-years if there are newer quotations. A half-year is the number year × 2 + half − 1.
create table valuation_window as
select
  (last - 21)::int2 as first,
  last
from (
  select greatest(2025 * 2 + 1, coalesce(max(half_year), 0))::int2 as last
  from quotation
) w;

-- Lists each distinct perimeter shape once, because most perimeters are the same in many half-years. Each shape is then joined with parcels once.
create unlogged table perimeter_shape as
with near as (
  select
    p.half_year,
    p.belfiore,
    p.zona,
    p.half_year = k.perimeter_half_year as places,
    p.geom,
    md5(st_asbinary(p.geom)) as digest
  from omi_perimeter p
  left join quoted_comune k on k.belfiore = p.belfiore
  cross join valuation_window v
  where (p.half_year between v.first and v.last or p.half_year = k.perimeter_half_year)
    and (
      p.belfiore in (select belfiore from parcel)
      or p.geom && (select st_setsrid(st_extent(point)::geometry, 4326) from parcel)
    )
)
select
  row_number() over (order by belfiore collate "C", zona collate "C", min(half_year))::int4 as shape_id,
  belfiore,
  zona,
  array_agg(half_year order by half_year) as half_years,
  coalesce(bool_or(places), false) as places,
  (array_agg(geom order by half_year))[1] as geom
from near
group by belfiore, zona, digest;

create unlogged table perimeter_piece as
select
  shape_id,
  st_subdivide(geom, 256) as geom
from perimeter_shape
order by shape_id;

-- Analyzes the tables, so that the planner starts the join from pieces of perimeters and finds parcels with an index.
analyze perimeter_shape;
analyze perimeter_piece;

-- Lists the shapes that contain each parcel. Parcels of one comune in the same shapes have the same history, so the following tables are computed per set of
-- shapes.
create unlogged table parcel_shapes as
select
  p.fid,
  p.belfiore as parcel_belfiore,
  array_agg(distinct s.shape_id order by s.shape_id) as shape_ids
from perimeter_piece s
join parcel p on st_covers(s.geom, p.point)
where p.kind = 'land'
group by p.fid, p.belfiore;

create unlogged table shape_set as
select
  row_number() over (order by parcel_belfiore collate "C", shape_ids)::int4 as set_id,
  parcel_belfiore,
  shape_ids
from parcel_shapes
group by parcel_belfiore, shape_ids;

-- Zones of each half-year by LinkZona. A LinkZona identifies one zone in a half-year, and the same zone in other half-years.
create unlogged table linked_zone as
select distinct on (z.half_year, z.link_zona)
  z.half_year,
  z.link_zona,
  z.belfiore,
  z.zona
from quotation_zone z
join quoted_comune k on k.belfiore = z.belfiore
order by z.half_year, z.link_zona, k.listed desc, z.belfiore collate "C", z.zona collate "C";

-- Current zone of each set of shapes, with its name in the newest half-year with quotations of the comune. Perimeters of that half-year state the name. For
-- other perimeters, the name is found by LinkZona. Perimeters of the parcels' comune are preferred. If these perimeters do not contain the parcels, perimeters
-- of a different comune are used, unless they are older than the perimeters of the parcels' comune. For the zone of a former comune, the half-year of the
-- parcels' comune is used.
create unlogged table set_place as
with choice as (
  select distinct on (t.set_id)
    t.set_id,
    s.belfiore as drawn_belfiore,
    s.zona as drawn_zona,
    k.perimeter_half_year,
    q.half_year
  from shape_set t
  join perimeter_shape s on s.shape_id = any (t.shape_ids)
  join quoted_comune k on k.belfiore = s.belfiore
  left join quoted_comune own on own.belfiore = t.parcel_belfiore
  cross join lateral (
    select case when k.belfiore = t.parcel_belfiore or k.listed or own.half_year is null then k.half_year else own.half_year end as half_year
  ) q
  where s.places
    and q.half_year is not null
    and (
      s.belfiore = t.parcel_belfiore
      or (
        coalesce(own.perimeter_half_year <= k.perimeter_half_year, true)
        and not exists (
          select from perimeter_shape o
          where o.shape_id = any (t.shape_ids)
            and o.belfiore = t.parcel_belfiore
            and o.half_years[cardinality(o.half_years)] >= k.perimeter_half_year
        )
      )
    )
  order by t.set_id, s.belfiore <> t.parcel_belfiore, k.perimeter_half_year desc, s.belfiore collate "C", s.zona collate "C"
)
select
  c.set_id,
  c.drawn_belfiore,
  c.drawn_zona,
  c.perimeter_half_year,
  d.link_zona,
  l.half_year,
  coalesce(l.belfiore, c.drawn_belfiore) as belfiore,
  coalesce(l.zona, c.drawn_zona) as zona
from choice c
left join quotation_zone d
  on d.belfiore = c.drawn_belfiore
  and d.zona = c.drawn_zona
  and d.half_year = c.perimeter_half_year
left join lateral (
  select
    d.half_year,
    d.belfiore,
    d.zona
  where c.half_year = c.perimeter_half_year
    and d.zona is not null
  union all
  select
    n.half_year,
    n.belfiore,
    n.zona
  from linked_zone n
  where n.half_year = c.half_year
    and n.link_zona = d.link_zona
    and c.half_year <> c.perimeter_half_year
) l on true;

create unlogged table set_run as
with drawn as (
  select distinct
    belfiore,
    half_year
  from omi_perimeter
),
then_by_perimeter as (
  select distinct on (t.set_id, h.half_year)
    t.set_id,
    h.half_year,
    s.belfiore,
    s.zona
  from shape_set t
  join perimeter_shape s on s.shape_id = any (t.shape_ids)
  cross join unnest(s.half_years) as h (half_year)
  order by t.set_id, h.half_year, s.belfiore <> t.parcel_belfiore, s.belfiore collate "C", s.zona collate "C"
),
timeline as (
  select
    z.set_id,
    h.half_year as then_half_year,
    case when p.zona is not null then p.belfiore when own.belfiore is null and other.belfiore is null then l.belfiore end as then_belfiore,
    case when p.zona is not null then p.zona when own.belfiore is null and other.belfiore is null then l.zona end as then_zona
  from set_place z
  join shape_set t on t.set_id = z.set_id
  cross join valuation_window v
  cross join generate_series(v.first::int4, v.last::int4) as h (half_year)
  left join then_by_perimeter p on p.set_id = z.set_id and p.half_year = h.half_year
  left join linked_zone l on l.link_zona = z.link_zona and l.half_year = h.half_year
  -- If the parcel's comune or the comune of the linked zone has perimeters of a half-year, but no perimeter contains the point, the parcel has no zone in
  -- that half-year.
  left join drawn own on own.belfiore = t.parcel_belfiore and own.half_year = h.half_year
  left join drawn other on other.belfiore = l.belfiore and other.half_year = h.half_year
),
marked as (
  select
    *,
    then_half_year - row_number() over (partition by set_id, then_belfiore, then_zona order by then_half_year) as run
  from timeline
)
select
  m.set_id,
  min(m.then_half_year)::int2 as since,
  max(m.then_half_year)::int2 as until,
  z.belfiore,
  z.zona,
  z.half_year,
  z.perimeter_half_year,
  m.then_belfiore,
  m.then_zona
from marked m
join set_place z on z.set_id = m.set_id
group by m.set_id, z.belfiore, z.zona, z.half_year, z.perimeter_half_year, m.then_belfiore, m.then_zona, m.run;

create table valuation_history as
select
  p.fid,
  r.since,
  r.until,
  r.belfiore,
  r.zona,
  r.half_year,
  r.perimeter_half_year,
  r.then_belfiore,
  r.then_zona
from parcel_shapes p
join shape_set t on t.parcel_belfiore = p.parcel_belfiore and t.shape_ids = p.shape_ids
join set_run r on r.set_id = t.set_id
order by p.fid, r.since;

alter table valuation_history add primary key (fid, since);
