-- purpose: seismic, flood and landslide hazard of each parcel
-- version: 1
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.seismic_zone, layer.pga_node, layer.flood_hazard_piece, layer.flood_coverage, layer.landslide_hazard_piece
-- writes: section.risk
-- carries: rows of parcels
-- grain: one row per parcel
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

-- Hazard pieces drive and parcels follow (outer side and inner side of the join): a piece is prepared once for all parcels under its index, and the
-- parcels, in Hilbert order, lie together on disk. Written the other way round, one look-up per parcel, this takes twenty times longer.
create table region_box as
select
  st_setsrid(st_extent(geom)::geometry, 4326) as geom
from parcel;

-- What a parcel shares with each class. A parcel inside a piece needs no intersection. Overlapping areas of one class are counted twice, which
-- only the threshold below sees.
-- Boxes find the pairs, and what is shared decides: one test of a pair, not two.
create view flood_share as
select
  parcel.fid,
  piece.class,
  piece.release_id,
  piece.member_id,
  piece.position,
  parcel.area_m2 as parcel_m2,
  case
    when st_covers(piece.geom, parcel.geom) then parcel.area_m2
    else st_area(st_transform(st_intersection(piece.geom, parcel.geom, core.overlay_grid(1e-10)), 3035))
  end as shared_m2
from flood_hazard_piece as piece
join parcel on piece.geom && parcel.geom
where piece.geom && (select geom from region_box)
-- offset 0: measured before anything is sorted, so that geometries are not carried through a sort.
offset 0;

create table flood_overlap as
select
  fid,
  class,
  min(parcel_m2) as parcel_m2,
  sum(shared_m2) as shared_m2
from flood_share
where shared_m2 > 0
group by fid, class;

create view landslide_share as
select
  parcel.fid,
  piece.class,
  piece.release_id,
  piece.member_id,
  piece.position,
  parcel.area_m2 as parcel_m2,
  case
    when st_covers(piece.geom, parcel.geom) then parcel.area_m2
    else st_area(st_transform(st_intersection(piece.geom, parcel.geom, core.overlay_grid(1e-10)), 3035))
  end as shared_m2
from landslide_hazard_piece as piece
join parcel on piece.geom && parcel.geom
where piece.geom && (select geom from region_box)
-- offset 0: measured before anything is sorted, so that geometries are not carried through a sort.
offset 0;

create table landslide_overlap as
select
  fid,
  class,
  min(parcel_m2) as parcel_m2,
  sum(shared_m2) as shared_m2
from landslide_share
where shared_m2 > 0
group by fid, class;

-- Touching is not sharing. Where a hazard is drawn along a parcel's border, rounding the coordinates (1e-8 degree in the cadastre) and drawing
-- straight edges in another projection leave up to a few square decimetres along a long border. So an overlap counts from 1 m² on, or
-- from half of a parcel that is smaller than 2 m².
create table flood as
select
  fid,
  (array['HPH', 'P1', 'P2', 'P3'])[max(array_position(array['HPH', 'P1', 'P2', 'P3'], class))] as level
from flood_overlap
where shared_m2 >= least(1, parcel_m2 / 2)
group by fid;

create table landslide as
select
  fid,
  (array['AA', 'P1', 'P2', 'P3', 'P4'])[max(array_position(array['AA', 'P1', 'P2', 'P3', 'P4'], class))] as level
from landslide_overlap
where shared_m2 >= least(1, parcel_m2 / 2)
group by fid;

-- Acceleration at the representative point, as the building code (NTC08, Allegato A) interpolates: the nodes of the grid cell around the point, weighted by
-- the inverse of their distance. The grid is arithmetic: a cell is found by two integers. Distances are metres on the ellipsoid in
-- the local plane at the mean latitude, which over the few kilometres of a cell differs from the geodesic by less than a millimetre.
create table cell as
select
  parcel.fid,
  st_x(parcel.point) as lon,
  st_y(parcel.point) as lat,
  floor(st_x(parcel.point) / grid.spacing_deg)::int4 as ix,
  floor(st_y(parcel.point) / grid.spacing_deg)::int4 as iy
from parcel
cross join (select max(spacing_deg) as spacing_deg from pga_node) as grid
where grid.spacing_deg is not null;

create view pga_share as
select
  near.*
from (
  select
    cell.fid,
    node.release_id,
    node.member_id,
    node.position,
    node.ag_g,
    sqrt(
      power(radians(node.lon - cell.lon) * 6378137 * cos(middle.phi) / sqrt(1 - 0.00669438002290 * power(sin(middle.phi), 2)), 2)
      + power(radians(node.lat - cell.lat) * 6378137 * (1 - 0.00669438002290) / power(1 - 0.00669438002290 * power(sin(middle.phi), 2), 1.5), 2)
    ) as distance_m
  from cell
  cross join (values (0, 0), (1, 0), (0, 1), (1, 1)) as corner (dx, dy)
  join pga_node as node
    on node.ix = cell.ix + corner.dx
    and node.iy = cell.iy + corner.dy
  cross join lateral (select radians((node.lat + cell.lat) / 2) as phi) as middle
) as near
where distance_m <= 5000;

create table pga as
select
  fid,
  -- A point on a node takes the node's value: its weight outdoes the others a billion times.
  sum(ag_g / greatest(distance_m, 1e-6)) / sum(1 / greatest(distance_m, 1e-6)) as pga_g
from pga_share
group by fid;

-- Places whose cell has no node at all, at the model's edge: the nearest node within 5 km. First by cell, because there are few.
create table pga_edge as
with lone as (
  select distinct
    ix,
    iy
  from cell
  where not exists (select from pga where pga.fid = cell.fid)
),
candidate as (
  select
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
    on node.ix = lone.ix + step_x.dx
    and node.iy = lone.iy + step_y.dy
),
near as (
  select
    cell.fid,
    candidate.ag_g,
    candidate.release_id,
    candidate.member_id,
    candidate.position,
    candidate.node_ix,
    candidate.node_iy,
    st_distance(st_point(cell.lon, cell.lat)::geography, st_point(candidate.lon, candidate.lat)::geography) as distance_m
  from cell
  join candidate
    on candidate.ix = cell.ix
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
order by fid, distance_m, node_iy, node_ix;

-- Whether "no area here" means "no hazard here". The scenarios are nested, so it is P1, the widest, that must have been mapped.
create table comune_cover as
select
  comune_code.belfiore,
  exists (
    select
    from flood_coverage
    where flood_coverage.class = 'P1'
      and not comune_code.province_historic_code = any (flood_coverage.missing_provinces)
  ) as flood
from comune_code;

-- The classification has the codes of its year. Comuni that have become one since keep their zones in it, and the most severe counts for all of it: where
-- the old border ran cannot be told. Of zones as severe as one another, the label of the code in force.
create table comune_zone as
select distinct on (register.belfiore)
  register.belfiore,
  seismic_zone.zone,
  seismic_zone.label,
  seismic_zone.release_id,
  seismic_zone.member_id,
  seismic_zone.position
from seismic_zone
join comune_register as register on register.old_istat_code = seismic_zone.istat_code
where not register.divided
order by
  register.belfiore,
  seismic_zone.zone,
  register.old_istat_code = register.istat_code desc,
  seismic_zone.label collate "C",
  seismic_zone.istat_code;

create table risk as
select
  parcel.fid,
  comune_zone.zone::int2 as seismic_zone,
  comune_zone.label as seismic_zone_label,
  round(coalesce(pga.pga_g, pga_edge.pga_g)::numeric, 4)::float8 as pga_g,
  flood.level as flood_level,
  landslide.level as landslide_level,
  coalesce(pga.pga_g, pga_edge.pga_g) is not null as pga_mapped,
  flood.level is not null or coalesce(comune_cover.flood, false) as flood_mapped,
  landslide.level is not null or (landslide.fid is null and loaded.landslide) as landslide_mapped
from parcel
left join comune_cover on comune_cover.belfiore = parcel.belfiore
left join comune_zone on comune_zone.belfiore = parcel.belfiore
left join pga on pga.fid = parcel.fid
left join pga_edge on pga_edge.fid = parcel.fid
left join flood on flood.fid = parcel.fid
left join landslide on landslide.fid = parcel.fid
cross join (select exists (select from landslide_hazard_piece) as landslide) as loaded
order by parcel.fid;

alter table risk add primary key (fid);
alter table risk alter column pga_mapped set not null;
alter table risk alter column flood_mapped set not null;
alter table risk alter column landslide_mapped set not null;
