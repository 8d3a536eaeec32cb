-- purpose: vertical ground motion of each parcel, from the measured cells under the parcel
-- version: 3
-- reads: core.parcel, layer.egms_cell
-- writes: section.subsidence
-- incremental: rows of parcels
-- grain: one row per parcel with at least one measured cell
-- crs: parcels are transformed to EPSG:3035, in which the cells are the squares [100·ix, 100·ix + 100) × [100·iy, 100·iy + 100)

-- Range of the cells in the bounding box of the region's parcels. The margin allows for the curvature of the box's edges, which are straight in degrees.
create table bounds as
select
  floor(st_xmin(b.geom) / 100)::int4 - 10 as ix_first,
  floor(st_xmax(b.geom) / 100)::int4 + 10 as ix_last,
  floor(st_ymin(b.geom) / 100)::int4 - 10 as iy_first,
  floor(st_ymax(b.geom) / 100)::int4 + 10 as iy_last
from (
  select st_transform(st_segmentize(st_setsrid(st_extent(geom)::geometry, 4326), 0.05), 3035) as geom
  from parcel
) b;

-- Finds cells that are in several files, as at the edge of a tile, and lists the series that are not used. The series with the best fit is used, whatever its
-- file. Almost all cells are unique, so only a few rows are sorted.
create table worse as
select
  member_id,
  position
from (
  select
    e.member_id,
    e.position,
    row_number() over (
      partition by e.ix, e.iy
      order by e.rmse_mm, e.mean_velocity_std_mm_year, e.pid collate "C", e.mean_velocity_mm_year, e.acceleration_mm_year2, e.member_id, e.position
    ) as place
  from egms_cell e
  join (
    select
      ix,
      iy
    from egms_cell
    where ix between (select ix_first from bounds) and (select ix_last from bounds)
      and iy between (select iy_first from bounds) and (select iy_last from bounds)
    group by ix, iy
    having count(*) > 1
  ) repeated using (ix, iy)
) ranked
where place > 1;

-- Measured cells under each parcel. The weight of a cell is the shared area in m², or 1 if the parcel is inside one cell. Cells are found by two integers,
-- which are computed from the bounding box of the parcel.
create view cell_share as
with shape as (
  select
    fid,
    area_m2,
    geom,
    floor(st_xmin(box) / 100)::int4 as ix_first,
    floor(st_xmax(box) / 100)::int4 as ix_last,
    floor(st_ymin(box) / 100)::int4 as iy_first,
    floor(st_ymax(box) / 100)::int4 as iy_last
  from (
    select
      fid,
      area_m2,
      geom,
      box3d(geom) as box
    from (
      select
        fid,
        area_m2,
        -- Splits the edges before the transformation, because edges are straight in degrees.
        st_transform(st_segmentize(geom, 0.0001), 3035) as geom
      from parcel
      offset 0
    ) as laea
    -- Each offset 0 makes PostgreSQL transform a parcel, and compute its box, once instead of once per use.
    offset 0
  ) as boxed
),
-- Set-returning functions in the select list make the planner read all cells once into a hash table. With a join instead, the planner would read all cells for
-- every parcel.
candidate_column as (
  select
    fid,
    area_m2,
    -- Many parcels are inside one cell. Such a parcel need not be clipped, because the mean does not depend on the weight of a single cell.
    case when ix_first = ix_last and iy_first = iy_last then null else geom end as geom,
    iy_first,
    iy_last,
    generate_series(ix_first, ix_last) as ix
  from shape
),
candidate as (
  select
    fid,
    area_m2,
    geom,
    ix,
    generate_series(iy_first, iy_last) as iy
  from candidate_column
),
cell as (
  select
    ix,
    iy,
    mean_velocity_mm_year as velocity,
    acceleration_mm_year2 as acceleration,
    release_id,
    member_id,
    position
  from egms_cell
  where ix between (select ix_first from bounds) and (select ix_last from bounds)
    and iy between (select iy_first from bounds) and (select iy_last from bounds)
),
overlap as (
  select
    c.fid,
    e.velocity,
    e.acceleration,
    e.release_id,
    e.member_id,
    e.position,
    c.geom is null as is_whole,
    case
      when c.geom is null then (c.area_m2 >= 0.01)::int4
      else st_area(st_clipbybox2d(c.geom, st_makeenvelope(c.ix * 100, c.iy * 100, c.ix * 100 + 100, c.iy * 100 + 100)::box2d))
    end as weight
  from candidate c
  join cell e on e.ix = c.ix and e.iy = c.iy
  where not exists (select from worse w where w.member_id = e.member_id and w.position = e.position)
  -- offset 0 makes PostgreSQL clip each cell once instead of once per mean.
  offset 0
)
select
  *
from overlap
-- An area of less than 0.01 m² is a rounding error along a common border.
where weight >= 0.01;

-- Derives classes from the rounded means, so values and classes agree on every engine.
create table subsidence as
with mean as (
  select
    fid,
    round((sum(velocity * weight) / sum(weight))::numeric, 2)::float8 as velocity,
    round((sum(acceleration * weight) / sum(weight))::numeric, 2)::float8 as acceleration,
    count(*)::int4 as cells
  from cell_share
  group by fid
),
classed as (
  select
    fid,
    velocity,
    acceleration,
    cells,
    (case when -velocity < 2 then 1 when -velocity < 5 then 2 when -velocity < 10 then 3 when -velocity < 20 then 4 else 5 end)::int2 as risk_class
  from mean
)
select
  fid,
  velocity as velocity_mm_year,
  acceleration as acceleration_mm_year2,
  cells,
  risk_class,
  (array['trascurabile', 'basso', 'medio', 'alto', 'elevato'])[risk_class] as risk_label,
  case
    when abs(acceleration) <= 0.1 then 'stable'
    when velocity = 0 or sign(acceleration) = sign(velocity) then 'accelerating'
    else 'decelerating'
  end as trend,
  case
    when abs(velocity) <= 2 then 'stabile'
    when velocity < 0 then 'subsidenza'
    else 'sollevamento'
  end as direction
from classed
order by fid;

alter table subsidence add primary key (fid);
