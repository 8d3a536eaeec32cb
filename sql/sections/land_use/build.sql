-- purpose: the land use class with the largest area in each parcel
-- version: 2
-- reads: core.parcel, layer.land_use_piece, layer.land_use_class
-- writes: section.land_use
-- incremental: rows of parcels
-- grain: one row per land parcel where the map has a class
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

create view overlay_parcel as
select
  fid,
  belfiore,
  area_m2,
  geom
from parcel
where kind = 'land';

create view overlay_piece as
select
  'land_use' as map,
  code as class,
  release_id,
  member_id,
  position,
  geom
from land_use_piece;

-- Empty, because all files are used in every comune.
create table overlay_silent (
  map text,
  class text,
  belfiore text,
  member_id int4
);

-- step: overlay.sql
-- step: largest.sql

create table land_use as
select
  largest.fid,
  largest.code,
  class.class,
  largest.share
from largest
left join land_use_class as class
  on class.member_id = largest.member_id
  and class.code = largest.code
order by largest.fid;

alter table land_use add primary key (fid);
alter table land_use alter column code set not null;
alter table land_use alter column share set not null;
