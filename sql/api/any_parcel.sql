-- purpose: a sample parcel for trying the API
-- reads: core.parcel
-- writes: api.any_parcel
-- grain: one call per start of a server
-- crs: EPSG:4326, longitude latitude

create or replace function api.any_parcel(out fid int4, out lat float8, out lng float8, out code text)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select
    p.fid,
    st_y(p.point),
    st_x(p.point),
    p.belfiore
  from core.parcel p
  where p.kind = 'land'
  limit 1
$$;
comment on function api.any_parcel() is 'A published land parcel, its representative point and the code of its comune. All results are null if no region is published';
