-- purpose: step of an incremental build: true if changed parcels may affect tables that depend on the outline of the parcels
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary
-- writes: none
-- grain: one row
-- crs: EPSG:4326

-- The outline consists of the comuni that have parcels, the box of all parcels, and the parcels of comuni without a boundary.
create table place as
select belfiore
from published_parcel
join changed_fid using (fid)
union
select belfiore
from parcel
join changed_fid using (fid);

-- step: comune_boundary.sql

with before as (
  select
    belfiore,
    st_extent(geom)::geometry as box
  from published_parcel
  group by belfiore
),
now as (
  select
    belfiore,
    st_extent(geom)::geometry as box
  from parcel
  group by belfiore
)
select
  -- If the list of comuni is not loaded, a building belongs to the comune of the parcels under the building.
  not exists (select from comune_register)
  or exists (
    select
    from place
    where not exists (select from comune_boundary as drawn where drawn.belfiore = place.belfiore)
  )
  or exists (
    select
    from before
    full join now using (belfiore)
    where before.box is null
      or now.box is null
  )
  or (select st_extent(box)::text from before) is distinct from (select st_extent(box)::text from now) as differs;
