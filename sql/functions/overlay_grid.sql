-- purpose: the precision at which geometries are overlaid
-- reads: none
-- writes: core.overlay_grid
-- grain: one call per statement
-- crs: the unit of the geometries

-- GEOS overlays with floating precision first. If lines cross too closely, GEOS throws a C++ exception and starts again. PGlite's build does not catch
-- exceptions and would abort the statement. With a grid there are no exceptions, but the overlay takes twice the time, so only PGlite uses a grid.
create or replace function core.overlay_grid(fine float8) returns float8
language sql immutable parallel safe
as $$
  select case when version() like '%PGlite%' then fine else -1 end
$$;
comment on function core.overlay_grid(float8) is 'The last argument of st_intersection and st_union. The value is −1 for floating precision. On the embedded engine the value is the given grid in the unit of the geometries';
