-- purpose: the precision at which geometries are overlaid
-- reads: none
-- writes: core.overlay_grid
-- grain: one call per statement
-- crs: the unit of the geometries

-- GEOS overlays with floating precision first. Where lines cross too closely it starts again after a C++ exception. PGlite's build does not
-- catch exceptions and would abort the statement. A grid needs no exceptions but takes twice the time, so only PGlite uses one.
create or replace function core.overlay_grid(fine float8) returns float8
language sql immutable parallel safe
as $$
  select case when version() like '%PGlite%' then fine else -1 end
$$;
comment on function core.overlay_grid(float8) is 'Last argument of st_intersection and st_union: −1 for floating precision; on the embedded engine, the given grid in the unit of the geometries';
