-- purpose: seismic, flood and landslide hazard of each parcel
-- version: 4
-- reads: core.parcel, core.comune_register, core.coverage, layer.comune_code, layer.comune_suppressed, layer.seismic_zone, layer.pga_node, layer.flood_hazard_piece, layer.flood_coverage, layer.landslide_hazard_piece, layer.landslide_coverage, ledger.file_place
-- writes: section.risk
-- incremental: rows of parcels
-- grain: one row per parcel
-- crs: EPSG:4326; overlaps are measured in EPSG:3035, nodes of the acceleration are in EPSG:4230 (ED50)

create view overlay_parcel as
select
  fid,
  belfiore,
  area_m2,
  geom
from parcel;

create view overlay_piece as
select
  'flood' as map,
  class,
  release_id,
  member_id,
  position,
  geom
from flood_hazard_piece
union all
select
  'landslide' as map,
  class,
  release_id,
  member_id,
  position,
  geom
from landslide_hazard_piece;

-- Members to ignore for each comune and class. If several files overlap, only the areas of one file are used for each comune and class. If there is only one
-- file, this table is empty. Flood areas without a class (HPH) are ignored only if their file is older than all flood files that are used for the comune.
create table overlay_silent as
with flood_file as (
  select
    coverage.class,
    coverage.member_id,
    file.file_id,
    file.rank
  from flood_coverage as coverage
  join current_member as file using (member_id)
),
flood_speaker as (
  select
    coverage.belfiore,
    flood_file.class,
    flood_file.file_id,
    flood_file.rank
  from coverage
  join flood_file
    on flood_file.member_id = coverage.member_id
    and coverage.theme = 'flood_' || flood_file.class
  where coverage.mapped
),
landslide_file as (
  select
    coverage.member_id,
    file.file_id
  from landslide_coverage as coverage
  join current_member as file using (member_id)
)
select
  'flood' as map,
  flood_file.class,
  speaker.belfiore,
  flood_file.member_id
from flood_speaker as speaker
join flood_file
  on flood_file.class = speaker.class
  and flood_file.file_id <> speaker.file_id
union all
select
  'flood',
  flood_file.class,
  oldest.belfiore,
  flood_file.member_id
from (
  select
    belfiore,
    max(rank) as rank
  from flood_speaker
  group by belfiore
) as oldest
join flood_file
  on flood_file.class = 'HPH'
  and flood_file.rank > oldest.rank
union all
select
  'landslide',
  null,
  coverage.belfiore,
  other.member_id
from coverage
join landslide_file as speaker on speaker.member_id = coverage.member_id
join landslide_file as other on other.file_id <> speaker.file_id
where coverage.theme = 'landslide'
  and coverage.mapped;

-- step: overlay.sql

create unlogged table flood as
select distinct on (fid)
  fid,
  class as level,
  share
from overlay
where map = 'flood'
order by fid, array_position(array['P3', 'P2', 'P1', 'HPH'], class);

-- An area of undetermined class has no level. If a parcel overlaps only such areas, its row has no level, and the parcel does not count as mapped.
create unlogged table landslide as
select distinct on (fid)
  fid,
  class as level,
  case when class is not null then share end as share,
  bool_or(class = 'AA') over (partition by fid) as attention
from overlay
where map = 'landslide'
order by fid, array_position(array['P4', 'P3', 'P2', 'P1', 'AA'], class);

-- Position of each representative point in ED50 (EPSG:4230), and the grid cell that contains the point. The grid of the acceleration is regular in ED50, so the
-- point is transformed to ED50. The transformation is the inverse of the geocentric translation EPSG:1133, "ED50 to WGS 84 (1)" (−87, −98, −121 m). The result
-- is converted to degrees with Bowring's formula on the International 1924 ellipsoid. st_transform is not used, because PROJ selects an operation that depends
-- on the grid files of the machine.
create unlogged table cell as
select
  placed.fid,
  placed.lon,
  placed.lat,
  grid.spacing_deg,
  floor(placed.lon / grid.spacing_deg)::int4 as ix,
  floor(placed.lat / grid.spacing_deg)::int4 as iy
from (
  select
    fid,
    degrees(atan2(y, x)) as lon,
    degrees(atan2(
      z + 0.006768170197224 * 6356911.946127946 * power(sin(theta), 3),
      p - 0.006722670022333 * 6378388 * power(cos(theta), 3)
    )) as lat
  -- Each offset 0 makes PostgreSQL compute the values of a level once instead of once per use.
  from (
    select
      fid,
      x,
      y,
      z,
      sqrt(power(x, 2) + power(y, 2)) as p,
      atan2(z * 6378388, sqrt(power(x, 2) + power(y, 2)) * 6356911.946127946) as theta
    from (
      select
        fid,
        n * cos(phi) * cos(lambda) + 87 as x,
        n * cos(phi) * sin(lambda) + 98 as y,
        n * (1 - 0.00669437999014) * sin(phi) + 121 as z
      from (
        select
          fid,
          lambda,
          phi,
          -- Radius of curvature in the prime vertical, WGS 84.
          6378137 / sqrt(1 - 0.00669437999014 * power(sin(phi), 2)) as n
        from (
          select
            fid,
            radians(st_x(point)) as lambda,
            radians(st_y(point)) as phi
          from parcel
          where exists (select from pga_node)
          offset 0
        ) as wgs84
        offset 0
      ) as curvature
      offset 0
    ) as geocentric
    offset 0
  ) as bowring
  offset 0
) as placed
cross join (select distinct spacing_deg from pga_node) as grid;

-- Each node belongs to the four cells that meet at the node. The parcels of a region are in about a thousand cells, so the nodes of a cell are found by hash or
-- index, without sorting the parcels.
create table cell_node as
select
  node.spacing_deg,
  node.ix - corner.dx as ix,
  node.iy - corner.dy as iy,
  node.release_id,
  node.member_id,
  node.position,
  node.lon,
  node.lat,
  node.ag_g
from pga_node as node
cross join (values (0, 0), (1, 0), (0, 1), (1, 1)) as corner (dx, dy);

-- serves: the nodes of a parcel's cell
create index on cell_node (ix, iy);
analyze cell_node;
analyze cell;

-- Nodes of the cell around each point, up to 5 km from the point. Distances are computed in metres in the local plane at the mean latitude, on the
-- International 1924 ellipsoid. Within the few kilometres of a cell, these distances differ from geodesic distances by less than a millimetre.
create view near_node as
select
  near.*
from (
  select
    cell.fid,
    cell.spacing_deg,
    node.release_id,
    node.member_id,
    node.position,
    node.ag_g,
    sqrt(
      power(radians(node.lon - cell.lon) * 6378388 * cos(middle.phi) / sqrt(1 - 0.006722670022333 * power(sin(middle.phi), 2)), 2)
      + power(radians(node.lat - cell.lat) * 6378388 * (1 - 0.006722670022333) / power(1 - 0.006722670022333 * power(sin(middle.phi), 2), 1.5), 2)
    ) as distance_m
  from cell
  join cell_node as node
    on node.ix = cell.ix
    and node.iy = cell.iy
    and node.spacing_deg = cell.spacing_deg
  cross join lateral (select radians((node.lat + cell.lat) / 2) as phi) as middle
  -- offset 0 makes PostgreSQL measure the distance once instead of once per use.
  offset 0
) as near
where distance_m <= 5000;

-- Acceleration at each point, interpolated as in the building code (NTC08, Allegato A). Each node of the cell around the point is weighted by the inverse of
-- its distance. If files with a fine and a coarse grid are current, the finest grid that has a node of the cell is used.
create unlogged table pga as
select distinct on (fid)
  fid,
  spacing_deg,
  -- A point on a node has the value of the node, because its weight is a billion times larger than the other weights.
  sum(ag_g / greatest(distance_m, 1e-6)) / sum(1 / greatest(distance_m, 1e-6)) as pga_g
from near_node
group by fid, spacing_deg
order by fid, spacing_deg;

create view pga_share as
select
  near_node.*
from near_node
join pga
  on pga.fid = near_node.fid
  and pga.spacing_deg = near_node.spacing_deg;

-- If the cell of a point has no node, as at the edge of the model, the nearest node within 5 km is used. Candidate nodes are found once per cell, because there
-- are few cells.
create table pga_edge as
with lone as (
  select distinct
    spacing_deg,
    ix,
    iy
  from cell
  where not exists (select from pga where pga.fid = cell.fid)
),
candidate as (
  select
    lone.spacing_deg,
    lone.ix,
    lone.iy,
    node.lon,
    node.lat,
    node.ag_g,
    node.release_id,
    node.member_id,
    node.position,
    node.ix as node_ix,
    node.iy as node_iy
  from lone
  cross join generate_series(-4, 5) as step_x (dx)
  cross join generate_series(-4, 5) as step_y (dy)
  join pga_node as node
    on node.spacing_deg = lone.spacing_deg
    and node.ix = lone.ix + step_x.dx
    and node.iy = lone.iy + step_y.dy
),
near as (
  select
    cell.fid,
    candidate.spacing_deg,
    candidate.ag_g,
    candidate.release_id,
    candidate.member_id,
    candidate.position,
    candidate.node_ix,
    candidate.node_iy,
    st_distance(st_point(cell.lon, cell.lat, 4230)::geography, st_point(candidate.lon, candidate.lat, 4230)::geography) as distance_m
  from cell
  join candidate
    on candidate.spacing_deg = cell.spacing_deg
    and candidate.ix = cell.ix
    and candidate.iy = cell.iy
  where not exists (select from pga where pga.fid = cell.fid)
)
select distinct on (fid)
  fid,
  ag_g as pga_g,
  release_id,
  member_id,
  position,
  distance_m
from near
where distance_m <= 5000
order by fid, distance_m, spacing_deg, node_iy, node_ix;

-- Coverage of each comune, which decides whether a missing area means no hazard. Each scenario is a separate map.
create table comune_cover as
select
  belfiore,
  coalesce(bool_or(mapped) filter (where theme = 'flood_P1'), false) as p1,
  coalesce(bool_or(mapped) filter (where theme = 'flood_P2'), false) as p2,
  coalesce(bool_or(mapped) filter (where theme = 'flood_P3'), false) as p3,
  coalesce(bool_or(mapped) filter (where theme = 'landslide'), false) as landslide
from coverage
group by belfiore;

-- step: comune_today.sql

-- The seismic classification contains the ISTAT codes of its year, including comuni that merged later. A merged comune gets the most severe zone of its former
-- comuni, because the old border is unknown. If zones are equally severe, the label of the current code is used. If several files contain the comune, the
-- newest file is used.
create view comune_label as
select
  register.belfiore,
  register.old_istat_code = register.istat_code as is_in_force,
  seismic_zone.zone,
  seismic_zone.label,
  seismic_zone.istat_code,
  seismic_zone.release_id,
  seismic_zone.member_id,
  seismic_zone.position,
  rank() over (partition by register.belfiore order by file.rank) as edition
from seismic_zone
join current_member as file using (member_id)
join comune_register as register on register.old_istat_code = seismic_zone.istat_code
where not register.divided;

create table comune_zone as
select distinct on (belfiore)
  belfiore,
  zone,
  label,
  -- A label of several zones has a digit for each zone, such as 2A-3B.
  min(label) over whole = max(label) over whole and label !~ '[1-4].*[1-4]' as is_exact,
  release_id,
  member_id,
  position
from comune_label
where edition = 1
window whole as (partition by belfiore)
order by
  belfiore,
  zone,
  is_in_force desc,
  label collate "C",
  istat_code;

create table risk as
select
  parcel.fid,
  comune_zone.zone::int2 as seismic_zone,
  comune_zone.label as seismic_zone_label,
  comune_zone.is_exact as seismic_zone_exact,
  round(coalesce(pga.pga_g, pga_edge.pga_g)::numeric, 4)::float8 as pga_g,
  flood.level as flood_level,
  flood.share as flood_share,
  landslide.level as landslide_level,
  landslide.share as landslide_share,
  case
    when landslide.attention then true
    when cover.landslide and (landslide.level is not null or landslide.fid is null) then false
  end as landslide_attention,
  coalesce(pga.pga_g, pga_edge.pga_g) is not null as pga_mapped,
  coalesce(cover.p1 and cover.p2 and cover.p3, false) as flood_mapped,
  -- The coverage is also partial if an area is on the parcel although the comune is not covered.
  not coalesce(cover.p1 and cover.p2 and cover.p3, false) and (flood.level is not null or coalesce(cover.p1 or cover.p2, false)) as flood_partial,
  -- If the comune is not covered, a level comes from a file that may lack other areas, so the parcel does not count as mapped.
  coalesce(cover.landslide, false) and (landslide.level is not null or landslide.fid is null) as landslide_mapped
from parcel
left join comune_cover as cover on cover.belfiore = parcel.belfiore
left join comune_today on comune_today.belfiore = parcel.belfiore
left join comune_zone on comune_zone.belfiore = comune_today.current_belfiore
left join pga on pga.fid = parcel.fid
left join pga_edge on pga_edge.fid = parcel.fid
left join flood on flood.fid = parcel.fid
left join landslide on landslide.fid = parcel.fid
order by parcel.fid;

alter table risk add primary key (fid);
alter table risk alter column pga_mapped set not null;
alter table risk alter column flood_mapped set not null;
alter table risk alter column flood_partial set not null;
alter table risk alter column landslide_mapped set not null;
