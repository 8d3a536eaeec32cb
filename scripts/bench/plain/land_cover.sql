-- purpose: the land cover class with the largest share of each land parcel, in plain PostGIS
-- reads: core.parcel, plain.land
-- writes: plain.land_cover
-- grain: one row per land parcel that a class overlaps by at least 1 m² or half of the parcel's area, whichever is smaller
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

create table plain.land_cover as
select distinct on (fid)
  fid,
  code,
  description,
  round(least(1, shared_m2 / area_m2)::numeric, 6)::float8 as share
from (
  select
    p.fid,
    p.area_m2,
    l.code,
    l.description,
    sum(st_area(st_transform(st_intersection(l.geom, p.geom), 3035))) as shared_m2
  from core.parcel p
  join plain.land l on st_intersects(l.geom, p.geom)
  where p.kind = 'land'
  group by p.fid, p.area_m2, l.code, l.description
) overlap
where shared_m2 >= least(1, area_m2 / 2)
order by fid, round(shared_m2::numeric, 2) desc, code collate "C";

alter table plain.land_cover add primary key (fid);
