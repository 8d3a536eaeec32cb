-- purpose: the grid size for overlays of geometries
-- reads: none
-- writes: core.overlay_grid
-- grain: one call per statement
-- crs: the unit of the geometries

-- GEOS first computes an overlay with floating precision. If that fails because lines cross too closely, GEOS throws a C++ exception and tries again with a
-- grid. PGlite's build does not catch exceptions, so the exception would abort the statement. An overlay with a grid throws no exception but takes twice the
-- time, so only PGlite uses a grid from the start.
create or replace function core.overlay_grid(fine float8) returns float8
language sql immutable parallel safe
as $$
  select case when version() like '%PGlite%' then fine else -1 end
$$;
comment on function core.overlay_grid(float8) is 'Grid size argument for st_intersection and st_union. On the embedded engine, returns the given grid size in the unit of the geometries. On PostgreSQL, returns −1, which means floating precision';
