-- purpose: the census section of each land parcel, in plain PostGIS
-- reads: core.parcel, plain.census
-- writes: plain.demographics
-- grain: one row per land parcel whose representative point is inside a census section
-- crs: EPSG:4326; areas are the parcels' areas in EPSG:3035

create table plain.demographics as
select
  fid,
  section_id,
  round((area_m2 / nullif(sum(area_m2) over (partition by section_id), 0))::numeric, 6)::float8 as parcel_share
from (
  select distinct on (p.fid)
    p.fid,
    p.area_m2,
    c.section_id
  from core.parcel p
  join plain.census c on st_covers(c.geom, p.point)
  where p.kind = 'land'
  order by p.fid, c.section_id collate "C"
) located
order by fid;

alter table plain.demographics add primary key (fid);
