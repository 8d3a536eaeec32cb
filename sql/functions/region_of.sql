-- purpose: the region of a parcel's fid
-- reads: none
-- writes: core.region_of
-- grain: one call per fid
-- crs: none

-- The function has no "strict" and no search path, so PostgreSQL inlines it and can use partitions and indexes.
create or replace function core.region_of(p_fid int4) returns int2
language sql immutable parallel safe
as $$
  select (p_fid / 100000000)::int2
$$;
comment on function core.region_of(int4) is 'ISTAT code of the region whose range of 100,000,000 fids contains the fid. If no region has the fid, the result is not a valid code';
