-- purpose: loads nodes with integer keys
-- reads: staging.raw_pga_node
-- writes: layer.pga_node
-- grain: one row per node; a node that is published twice is kept once
-- crs: none; lon and lat are degrees of ED50, EPSG:4230

-- The step of a file is the published step that divides most coordinates. The tolerance of 1e-4 of a step is about 20 or 50 cm.
create table grid as
select distinct on (member.file_id)
  member.file_id,
  spacing_deg
from (values (0.02::float8), (0.05)) as candidate (spacing_deg)
cross join raw_pga_node as raw
join member using (member_id)
group by member.file_id, spacing_deg
order by
  member.file_id,
  count(*) filter (
    where abs(raw.lon / spacing_deg - round(raw.lon / spacing_deg)) < 1e-4
      and abs(raw.lat / spacing_deg - round(raw.lat / spacing_deg)) < 1e-4
  ) desc,
  spacing_deg;

create table node as
select
  member.file_id,
  raw.member_id,
  raw.position,
  round(raw.lon / grid.spacing_deg)::int4 as ix,
  round(raw.lat / grid.spacing_deg)::int4 as iy,
  raw.lon,
  raw.lat,
  raw.ag_g,
  grid.spacing_deg,
  abs(raw.lon / grid.spacing_deg - round(raw.lon / grid.spacing_deg)) < 1e-4
    and abs(raw.lat / grid.spacing_deg - round(raw.lat / grid.spacing_deg)) < 1e-4 as on_grid
from raw_pga_node as raw
join member using (member_id)
join grid using (file_id);

create table ranked as
select
  member_id,
  position,
  ix,
  iy,
  lon,
  lat,
  ag_g,
  spacing_deg,
  row_number() over same_node as place,
  first_value(ag_g) over same_node as first_ag_g
from node
where on_grid
window same_node as (partition by file_id, ix, iy order by member_id, position);

create table reject as
select
  member_id,
  position,
  'node_off_grid' as code,
  'expected multiples of ' || spacing_deg || ' degrees, found ' || lon || ' ' || lat as message,
  lon || ' ' || lat || ' ' || ag_g as raw
from node
where not on_grid
union all
select
  member_id,
  position,
  'node_contradicts' as code,
  'expected ' || first_ag_g || ' g as earlier in the file, found ' || ag_g || ' g' as message,
  lon || ' ' || lat || ' ' || ag_g as raw
from ranked
where place > 1
  and ag_g <> first_ag_g;

create table duplicate as
select
  member_id,
  position,
  'node_repeated' as code
from ranked
where place > 1
  and ag_g = first_ag_g;

create table pga_node as
select
  release.release_id,
  ranked.member_id,
  ranked.position,
  ranked.ix,
  ranked.iy,
  ranked.lon,
  ranked.lat,
  ranked.ag_g,
  ranked.spacing_deg
from ranked
cross join release
where ranked.place = 1
order by ranked.iy, ranked.ix;

-- serves: section risk, for the corners of a parcel's cell
create index pga_node_ix_iy_idx on pga_node (ix, iy);

drop table ranked;
drop table node;
drop table grid;
