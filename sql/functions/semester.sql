-- purpose: names of half-years
-- reads: none
-- writes: core.semester
-- grain: one value
-- crs: none

create or replace function core.semester(p_half_year int4) returns text
-- Not immutable, because the operator || is not. Otherwise PostgreSQL could not inline its calls.
language sql stable parallel safe as $$
  select (p_half_year / 2) || '_' || (p_half_year % 2 + 1)
$$;
comment on function core.semester(int4) is 'Name of a half-year that is counted from the year 0, such as 2024_1';
