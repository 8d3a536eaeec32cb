-- purpose: the land cover class with the largest area in each parcel
-- version: 2
-- reads: core.parcel, core.land_coverage, layer.land_cover_piece, layer.land_cover_class, layer.land_cover_reach
-- writes: section.land_cover
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
  'land_cover' as map,
  code as class,
  release_id,
  member_id,
  position,
  geom
from land_cover_piece;

-- Members to ignore in each comune. If several files overlap, only the polygons of one file are used in each comune. If there is only one file, this table is
-- empty.
create table overlay_silent as
with held as (
  select
    reach.member_id,
    file.file_id
  from land_cover_reach as reach
  join current_member as file using (member_id)
)
select
  'land_cover' as map,
  null::text as class,
  coverage.belfiore,
  other.member_id
from land_coverage as coverage
join held as speaker on speaker.member_id = coverage.member_id
join held as other on other.file_id <> speaker.file_id
where coverage.mapped;

-- step: overlay.sql
-- step: largest.sql

create table land_cover as
select
  largest.fid,
  largest.code,
  class.description,
  largest.share
from largest
join (
  select distinct on (code)
    code,
    description
  from land_cover_class
  order by code, description collate "C"
) as class using (code)
order by largest.fid;

alter table land_cover add primary key (fid);
alter table land_cover alter column code set not null;
alter table land_cover alter column description set not null;
alter table land_cover alter column share set not null;
