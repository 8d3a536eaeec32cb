-- purpose: digests that show whether two parcels have the same geometry
-- reads: none
-- writes: core.drawing
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude in degrees

create or replace function core.drawing(area geometry) returns uuid
language sql immutable parallel safe
as $$
  select case when not st_isempty(snapped.geom) then md5(st_asbinary(st_normalize(snapped.geom), 'NDR'))::uuid end
  from (select st_snaptogrid(area, 1e-8) as geom) as snapped
$$;
comment on function core.drawing(geometry) is 'Digest of the rings of a polygon with 8 decimals. The digest does not depend on the starting point and direction of a ring. Null if the rounded polygon is empty';
