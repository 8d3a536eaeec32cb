-- purpose: step of an incremental build: true if changed parcels may affect tables that depend on the outline of the parcels
-- reads: core.comune_register, layer.comune_code, layer.boundary
-- writes: none
-- grain: one row
-- crs: EPSG:4326

-- The outline consists of the comuni that have parcels, the box of all parcels, and the parcels of comuni without a boundary.
create table place as
select
  belfiore,
  bool_or(is_new) as has_new,
  bool_or(not is_new) as has_old
from (
  select
    belfiore,
    false as is_new
  from published_parcel
  join changed_fid using (fid)
  union all
  select
    belfiore,
    true
  from changed_parcel
) changed
group by belfiore;

-- step: comune_boundary.sql

-- A side of the box stays the same in two cases: the changed parcels have the same extent on this side, or an unchanged parcel extends as far. Each unchanged
-- parcel is looked up in the index of geometries, so the parcels of the region are not read.
with changed as (
  select
    before.box as before,
    now.box as now
  from (
    select st_extent(geom)::box2d as box
    from published_parcel
    join changed_fid using (fid)
  ) before
  cross join (
    select st_extent(geom)::box2d as box
    from changed_parcel
  ) now
),
side as (
  select
    e.name,
    e.before,
    e.now,
    e.reach,
    e.beyond
  from changed c
  cross join lateral (
    select
      least(st_xmin(c.before), st_xmin(c.now)) as west,
      least(st_ymin(c.before), st_ymin(c.now)) as south,
      greatest(st_xmax(c.before), st_xmax(c.now)) as east,
      greatest(st_ymax(c.before), st_ymax(c.now)) as north
  ) b
  cross join lateral (
    values
      ('west', st_xmin(c.before), st_xmin(c.now), b.west, st_makeenvelope(-180, -90, b.west, 90, 4326)),
      ('south', st_ymin(c.before), st_ymin(c.now), b.south, st_makeenvelope(-180, -90, 180, b.south, 4326)),
      ('east', st_xmax(c.before), st_xmax(c.now), b.east, st_makeenvelope(b.east, -90, 180, 90, 4326)),
      ('north', st_ymax(c.before), st_ymax(c.now), b.north, st_makeenvelope(-180, b.north, 180, 90, 4326))
  ) as e (name, before, now, reach, beyond)
)
select
  -- If the list of comuni is not loaded, a building belongs to the comune of the parcels under the building, so every changed parcel matters.
  not exists (select from comune_register)
  or exists (
    select
    from place
    where not exists (select from comune_boundary as drawn where drawn.belfiore = place.belfiore)
  )
  or exists (
    select
    from place
    where has_new <> has_old
      and not exists (
        select
        from published_parcel as p
        where p.belfiore = place.belfiore
          and not exists (select from changed_fid as c where c.fid = p.fid)
      )
  )
  or exists (
    select
    from side
    where before is distinct from now
      and not exists (
        select
        from published_parcel as p
        where p.geom && side.beyond
          and not exists (select from changed_fid as c where c.fid = p.fid)
          and case side.name
            when 'west' then st_xmin(p.geom) <= side.reach
            when 'south' then st_ymin(p.geom) <= side.reach
            when 'east' then st_xmax(p.geom) >= side.reach
            else st_ymax(p.geom) >= side.reach
          end
      )
  ) as differs;
