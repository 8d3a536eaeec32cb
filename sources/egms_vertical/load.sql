-- purpose: cells by integer key, one row per cell
-- reads: staging.raw_egms_cell
-- writes: layer.egms_cell
-- grain: one row per cell; tiles that overlap or were given twice repeat cells, and the best-fitting series is kept
-- crs: none; the key is the cell's place on the 100 m grid of EPSG:3035

-- Few cells repeat, so their keys are found first and only they are sorted.
create table repeated_cell as
select
  easting,
  northing
from raw_egms_cell
group by easting, northing
having count(*) > 1;

create table duplicate as
select
  member_id,
  position,
  'cell_repeated' as code
from (
  select
    raw.member_id,
    raw.position,
    row_number() over (
      partition by raw.easting, raw.northing
      order by raw.rmse_mm, raw.mean_velocity_std_mm_year, raw.pid collate "C", raw.mean_velocity_mm_year, raw.member_id, raw.position
    ) as place
  from raw_egms_cell as raw
  join repeated_cell using (easting, northing)
) as ranked
where place > 1;

create table egms_cell as
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.easting / 100 as ix,
  raw.northing / 100 as iy,
  raw.mean_velocity_mm_year,
  raw.mean_velocity_std_mm_year,
  raw.acceleration_mm_year2,
  raw.rmse_mm,
  raw.height_m,
  raw.pid
from raw_egms_cell as raw
cross join release
where not exists (
  select
  from duplicate
  where duplicate.member_id = raw.member_id
    and duplicate.position = raw.position
)
order by iy, ix;

-- serves: section subsidence, which reads the rows of the grid that a region spans
create index egms_cell_iy_idx on egms_cell using brin (iy);

drop table repeated_cell;
