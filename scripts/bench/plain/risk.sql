-- purpose: flood and landslide areas and seismic acceleration of each parcel, in plain PostGIS
-- reads: core.parcel, plain.flood, plain.landslide, plain.node
-- writes: plain.flood_share, plain.landslide_share, plain.pga, plain.risk
-- grain: one row per parcel; plain.flood_share and plain.landslide_share: one row per parcel and class
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

create table plain.flood_share as
select
  p.fid,
  f.class,
  p.area_m2,
  st_area(st_transform(st_union(st_collectionextract(st_intersection(f.geom, p.geom), 3)), 3035)) as shared_m2
from core.parcel p
join plain.flood f on st_intersects(f.geom, p.geom)
group by p.fid, f.class, p.area_m2;

create table plain.landslide_share as
select
  p.fid,
  l.class,
  p.area_m2,
  st_area(st_transform(st_union(st_collectionextract(st_intersection(l.geom, p.geom), 3)), 3035)) as shared_m2
from core.parcel p
join plain.landslide l on st_intersects(l.geom, p.geom)
group by p.fid, l.class, p.area_m2;

create table plain.pga as
select
  p.fid,
  sum(n.ag_g / greatest(n.distance_m, 1e-6)) / sum(1 / greatest(n.distance_m, 1e-6)) as pga_g
from core.parcel p
cross join lateral (
  select
    node.ag_g,
    st_distance(node.geom::geography, p.point::geography) as distance_m
  from plain.node as node
  where node.geom && st_expand(p.point, node.spacing_deg)
    and st_dwithin(node.geom::geography, p.point::geography, 5000)
) n
group by p.fid;

create table plain.risk as
select
  p.fid,
  round(pga.pga_g::numeric, 4)::float8 as pga_g,
  flood.class as flood_level,
  flood.share as flood_share,
  landslide.class as landslide_level,
  landslide.share as landslide_share
from core.parcel p
left join plain.pga as pga on pga.fid = p.fid
left join (
  select distinct on (fid)
    fid,
    class,
    round(least(1, shared_m2 / area_m2)::numeric, 6)::float8 as share
  from plain.flood_share
  where shared_m2 >= least(1, area_m2 / 2)
  order by fid, array_position(array['P3', 'P2', 'P1', 'HPH'], class)
) flood on flood.fid = p.fid
left join (
  select distinct on (fid)
    fid,
    class,
    case when class is not null then round(least(1, shared_m2 / area_m2)::numeric, 6)::float8 end as share
  from plain.landslide_share
  where shared_m2 >= least(1, area_m2 / 2)
  order by fid, array_position(array['P4', 'P3', 'P2', 'P1', 'AA'], class)
) landslide on landslide.fid = p.fid
order by p.fid;

alter table plain.risk add primary key (fid);
