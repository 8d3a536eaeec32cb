-- purpose: names of half-years
-- reads: none
-- writes: core.semester
-- grain: one call per half-year
-- crs: none

create or replace function core.semester(p_half_year int4) returns text
-- Declared stable, because the operator || of a number and a text is stable. PostgreSQL cannot inline an immutable function that calls stable functions.
language sql stable parallel safe as $$
  select (p_half_year / 2) || '_' || (p_half_year % 2 + 1)
$$;
comment on function core.semester(int4) is 'Name of a half-year, such as 2024_1. The argument is the number of half-years since the year 0';
