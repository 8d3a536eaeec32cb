-- purpose: access points that belong to each parcel
-- version: 2
-- reads: core.parcel, core.access_point
-- writes: section.address
-- incremental: rows of parcels without a change within 35 m
-- grain: one row per parcel and access point, at most 20 per parcel
-- crs: EPSG:4326; distances are geodesic, in metres

create view point as
select
  address_id as id,
  belfiore,
  geom
from access_point;

-- step: placement.sql

create table address as
select
  r.fid,
  r.ordinal,
  r.address_id,
  r.inside,
  r.distance_m
from (
  select
    fid,
    (row_number() over (partition by fid order by inside desc, distance_m, id))::int2 as ordinal,
    id as address_id,
    inside,
    distance_m
  from placed
) r
where r.ordinal <= 20
order by r.fid, r.ordinal;

alter table address add primary key (fid, ordinal);
alter table address alter column address_id set not null;
alter table address alter column inside set not null;
alter table address alter column distance_m set not null;
