-- purpose: loads the tiles, and one row with integer keys per cell of a tile
-- reads: staging.raw_egms_cell
-- writes: layer.egms_cell, layer.egms_tile
-- grain: one row per cell of a file, with the best-fitting series if the cell is repeated; one row per tile of a file
-- crs: none; the key is the cell's position on the 100 m grid of EPSG:3035

-- Few cells are repeated, so their keys are found first and only rows with these keys are sorted. If two files contain the same cell, each file keeps its row.
-- The section subsidence later chooses one of the two rows.
create table repeated_cell as
select
  member_id,
  easting,
  northing
from raw_egms_cell
group by member_id, easting, northing
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
      partition by raw.member_id, raw.easting, raw.northing
      order by raw.rmse_mm, raw.mean_velocity_std_mm_year, raw.pid collate "C", raw.mean_velocity_mm_year, raw.position
    ) as place
  from raw_egms_cell as raw
  join repeated_cell using (member_id, easting, northing)
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
where not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position)
order by iy, ix;

-- serves: section subsidence, for the rows of the grid around a region
create index egms_cell_iy_idx on egms_cell using brin (iy);

-- A tile covers the square of 100 km in its name, even if no cell was measured. In a renamed file, the cells determine the squares.
create table egms_tile as
with named as (
  select
    member_id,
    regexp_match(core.upper_case(path || ' ' || file_name), 'EGMS_L3_E([0-9]{2})N([0-9]{2})_100KM') as place
  from member
)
select
  release.release_id,
  tile.member_id,
  tile.position,
  tile.tile_x,
  tile.tile_y
from (
  select
    member_id,
    1::int8 as position,
    place[1]::int4 as tile_x,
    place[2]::int4 as tile_y
  from named
  where place is not null
  union all
  select
    cell.member_id,
    min(cell.position),
    cell.ix / 1000,
    cell.iy / 1000
  from egms_cell as cell
  join named using (member_id)
  where named.place is null
  group by cell.member_id, cell.ix / 1000, cell.iy / 1000
) as tile
cross join release
order by tile.tile_x, tile.tile_y, tile.member_id;

drop table repeated_cell;
