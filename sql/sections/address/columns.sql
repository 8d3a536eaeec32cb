-- purpose: the section address of many parcels, one row of columns each, and which parcel has an address
-- reads: core.parcel, section.address
-- writes: api.columns_address, api.parcels_of_addresses
-- grain: one row per parcel, or per address
-- crs: EPSG:4326, latitude and longitude in degrees

create or replace function api.columns_address(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with listed as materialized (
    select
      s.fid,
      count(*) as n,
      (array_agg(s.address_id order by s.ordinal))[1] as address_id
    from section.address s
    where s.fid = any (p_fids)
    group by s.fid
  )
  select
    l.fid,
    null::bool,
    true,
    json_build_array(
      l.n,
      l.address_id,
      api.address_json(core.region_of(l.fid), l.address_id, null::core.parcel) ->> 'formatted_address'
    )
  from listed l;
end
$$;
comment on function api.columns_address(int4[]) is 'Section address as columns, of the parcels that have it: the number of access points, and the first';

create or replace function api.parcels_of_addresses(p_addresses int8[], p_lats float8[], p_lngs float8[])
returns table (address_id int8, fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with near as materialized (
    select
      q.address_id,
      p.fid
    from unnest(p_addresses, p_lats, p_lngs) as q (address_id, lat, lng)
    -- An access belongs to a parcel at most 15 m away.
    join core.parcel p on p.geom && st_expand(st_setsrid(st_makepoint(q.lng, q.lat), 4326), 0.0003)
  ),
  held as materialized (
    select
      s.address_id,
      s.fid
    from section.address s
    where s.fid in (select n.fid from near n)
  )
  select distinct
    n.address_id,
    n.fid
  from near n
  join held h
    on h.fid = n.fid
    and h.address_id = n.address_id;
end
$$;
comment on function api.parcels_of_addresses(int8[], float8[], float8[]) is 'The parcels whose own access points these are, by number and place (degrees)';
