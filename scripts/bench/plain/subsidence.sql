-- purpose: vertical ground motion of each parcel, in plain PostGIS
-- reads: core.parcel, plain.cell
-- writes: plain.subsidence
-- grain: one row per parcel that overlaps measured cells by at least 0.01 m² each
-- crs: parcels are transformed to EPSG:3035, the CRS of the cells

create table plain.subsidence as
select
  fid,
  round((sum(velocity * weight) / sum(weight))::numeric, 2)::float8 as velocity_mm_year,
  round((sum(acceleration * weight) / sum(weight))::numeric, 2)::float8 as acceleration_mm_year2,
  count(*)::int4 as cells
from (
  select
    p.fid,
    c.velocity,
    c.acceleration,
    st_area(st_intersection(p.geom, c.geom)) as weight
  from (
    select
      fid,
      st_transform(geom, 3035) as geom
    from core.parcel
    offset 0
  ) p
  join plain.cell c on st_intersects(c.geom, p.geom)
) overlap
where weight >= 0.01
group by fid
order by fid;

alter table plain.subsidence add primary key (fid);
