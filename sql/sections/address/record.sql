-- purpose: the section address of one parcel, and its columns for many parcels
-- reads: core.access_point, core.comune, core.comune_found, core.parcel, core.street, section.address
-- writes: api.section_address, api.columns_address, api.followed_address, api.parcels_of_addresses
-- grain: one array per parcel, one element per access point, at most 20; for columns one row per parcel, or per address
-- crs: EPSG:4326

create or replace function api.section_address(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  -- Reads the ids of the addresses first, because rows of parcels and rows of addresses may be on different nodes.
  v_found constant int8[] := array(
    select x.address_id
    from address x
    where x.fid = p_fid
    order by x.ordinal
  );
begin
  if v_found = '{}' then
    value := '[]';
    return;
  end if;
  value := (
    select json_agg(api.address_json(core.region_of(p_fid), x.address_id, p_from) order by x.ordinal)
    from unnest(v_found) with ordinality as x (address_id, ordinal)
  );
  keys := array['address/' || p_fid];
end
$$;
comment on function api.section_address(int4, anyelement) is 'Section address as JSON: the parcel''s access points, first those inside, then those within 15 m. [] if there are none';

create or replace function api.columns_address(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_regions constant int2[] := array(select distinct core.region_of(f.fid) from unnest(p_fids) as f (fid));
  v_fids int4[];
  v_counts int8[];
  v_addresses int8[];
  v_streets int8[];
  v_belfiori text[];
begin
  select
    array_agg(l.fid),
    array_agg(l.n),
    array_agg(l.address_id)
  into v_fids, v_counts, v_addresses
  from (
    select
      s.fid,
      count(*) as n,
      (array_agg(s.address_id order by s.ordinal))[1] as address_id
    from address s
    where s.fid = any (p_fids)
    group by s.fid
  ) l;
  select
    array_agg(distinct a.street_id),
    array_agg(distinct a.belfiore)
  into v_streets, v_belfiori
  from access_point a
  where a.region_code = any (v_regions)
    and a.address_id = any (v_addresses);
  -- Conditions on arrays use an index. In the views of a past date, a join would read the complete table.
  return query
  with access as materialized (
    select
      a.region_code,
      a.address_id,
      a.street_id,
      a.belfiore,
      api.street_number(a.number, a.exponent, a.colour, a.metric_m) as shown
    from access_point a
    where a.region_code = any (v_regions)
      and a.address_id = any (v_addresses)
  ),
  named_street as materialized (
    select
      s.region_code,
      s.street_id,
      s.name,
      s.locality
    from street s
    where s.region_code = any (v_regions)
      and s.street_id = any (v_streets)
  ),
  place as materialized (
    select
      c.belfiore,
      c.name,
      c.province_name
    from comune c
    where c.belfiore = any (v_belfiori)
  ),
  place_found as materialized (
    select
      f.region_code,
      f.belfiore,
      f.name
    from comune_found f
    where f.region_code = any (v_regions)
      and f.belfiore = any (v_belfiori)
  )
  select
    l.fid,
    null::bool,
    true,
    json_build_array(
      l.n,
      l.address_id,
      case when s.street_id is not null then api.formatted_address(s.name, a.shown, coalesce(nullif(s.locality, ''), c.name, f.name), c.province_name) end
    )
  from unnest(v_fids, v_counts, v_addresses) as l (fid, n, address_id)
  left join access a
    on a.region_code = core.region_of(l.fid)
    and a.address_id = l.address_id
  left join named_street s
    on s.region_code = a.region_code
    and s.street_id = a.street_id
  left join place c on c.belfiore = a.belfiore
  left join place_found f
    on f.region_code = a.region_code
    and f.belfiore = a.belfiore;
end
$$;
comment on function api.columns_address(int4[], anyelement) is 'Section address as columns, for the parcels that have access points: the number of access points, and the first access point';

create or replace function api.followed_address(p_region int4, p_swap int4, p_after int4, p_end int4)
returns table (fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with comune_name as (
    select h.belfiore
    from history.comune h
    where h.until_swap = p_swap
    union
    select h.belfiore
    from history.comune_found h
    where h.until_swap = p_swap
  ),
  street_name as (
    select h.street_id
    from history.street h
    where h.until_swap = p_swap
  ),
  -- Each table has a separate branch of the union, so that the access points of streets are found with an index. The access points of a region are only read if
  -- a comune was renamed.
  renamed as materialized (
    select h.address_id
    from history.access_point h
    where h.until_swap = p_swap
    union
    select a.address_id
    from core.access_point a
    where a.region_code = p_region
      and a.street_id in (select s.street_id from street_name s)
    union
    select h.address_id
    from history.access_point h
    where h.region_code = p_region
      and h.street_id in (select s.street_id from street_name s)
    union
    select a.address_id
    from core.access_point a
    where a.region_code = p_region
      and exists (select from comune_name)
      and a.belfiore in (select c.belfiore from comune_name c)
    union
    select h.address_id
    from history.access_point h
    where h.region_code = p_region
      and exists (select from comune_name)
      and h.belfiore in (select c.belfiore from comune_name c)
  )
  select s.fid
  from section.address s
  where s.address_id in (select r.address_id from renamed r)
    and s.fid > p_after
    and s.fid < p_end
  union
  select h.fid
  from history.address h
  where h.address_id in (select r.address_id from renamed r)
    and h.fid > p_after
    and h.fid < p_end;
end
$$;
comment on function api.followed_address(int4, int4, int4, int4) is 'Parcels that have or had an address whose number, street or comune was replaced by a swap (ledger.swap), in a range of fids of a region';

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
    -- A distance of 0.0003° is more than 15 m, the maximum distance between an access point and its parcel.
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
comment on function api.parcels_of_addresses(int8[], float8[], float8[]) is 'Parcels to which the given access points belong. An access point is given by its id and its location in degrees';
