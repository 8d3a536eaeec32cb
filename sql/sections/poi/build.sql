-- purpose: schools, pharmacies and fuel stations of each parcel
-- version: 1
-- reads: core.parcel, core.point_of_interest
-- writes: section.poi
-- incremental: rows of parcels without a change within 35 m
-- grain: one row per parcel and point, at most 50 per parcel
-- crs: EPSG:4326; distances are geodesic, in metres

create view point as
select
  id,
  belfiore,
  geom
from point_of_interest
where geom is not null
  and category <> 'culture';

-- step: placement.sql

create table poi as
select
  r.fid,
  r.ordinal,
  r.id,
  r.inside,
  r.distance_m
from (
  select
    f.fid,
    (row_number() over (partition by f.fid order by a.category collate "C", a.name collate "C", a.id collate "C"))::int2 as ordinal,
    f.id,
    f.inside,
    f.distance_m
  from placed f
  join point_of_interest a on a.id = f.id
) r
where r.ordinal <= 50
order by r.fid, r.ordinal;

alter table poi add primary key (fid, ordinal);
alter table poi alter column id set not null;
alter table poi alter column inside set not null;
alter table poi alter column distance_m set not null;
