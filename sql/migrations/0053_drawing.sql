-- purpose: a parcel keeps its fid when its comune changes code, and a retired one names its successor
-- reads: core.parcel_register
-- writes: none
-- grain: one row per reference that ever had a fid
-- crs: EPSG:4326, longitude and latitude in degrees

alter table core.parcel_register add column taken_from text;
alter table core.parcel_register add column drawing uuid;
alter table core.parcel_register add column point geometry(point, 4326);
alter table core.parcel_register add column successor_fid int4;
comment on table core.parcel_register is
  'Every cadastral reference that was ever given a fid; a fid is given to another reference only with the same drawing, when a comune changes its code';
comment on column core.parcel_register.taken_from is 'Reference, of another comune, that had the fid before: the same drawing; null: the number was given to this reference first';
comment on column core.parcel_register.drawing is 'Digest of the rings (core.drawing) that it had when it was retired; null: not retired, or before this was noted';
comment on column core.parcel_register.point is 'Its representative point when it was retired, EPSG:4326 longitude latitude; null: not retired, or before this was noted';
comment on column core.parcel_register.successor_fid is 'The only parcel in force, in any region, with its drawing; null: not retired, or there is none or several';
comment on column core.parcel_register.retired_on is 'Day of the publication that no longer has the parcel; null: it is published, or was never';

-- serves: the answer for a parcel that is retired
create index parcel_register_retired_idx on core.parcel_register (fid) where retired_on is not null;
-- serves: the successors of parcels that are retired
create index parcel_register_point_idx on core.parcel_register using gist (point) where point is not null;
-- serves: fids that several references had
create index parcel_register_taken_idx on core.parcel_register (fid) where taken_from is not null;
