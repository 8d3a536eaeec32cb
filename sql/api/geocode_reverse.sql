-- purpose: addresses around a point
-- reads: core.access_point, core.parcel
-- writes: api.geocode_reverse
-- grain: one call per point
-- crs: EPSG:4326; distances are geodesic, in metres

create or replace function api.geocode_reverse(p_lat float8, p_lng float8, p_radius_m float8, p_limit int4) returns jsonb
language plpgsql stable
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  return (
    with target as (
      select st_setsrid(st_makepoint(p_lng, p_lat), 4326) as geom
    ),
    -- The index sorts addresses by distance in degrees. The addresses nearest in degrees give an upper limit for the distance in metres. Then every address
    -- within this limit is measured in metres.
    first as (
      select max(st_distance(n.geom::geography, t.geom::geography)) as reach_m, count(*) as n
      from target t
      cross join lateral (
        select a.geom
        from core.access_point a
        order by a.geom <-> t.geom
        limit p_limit
      ) n
    ),
    -- Adds 0.01 m, because distances are rounded to 0.01 m.
    reach as (
      select
        least(p_radius_m, case when f.n < p_limit then p_radius_m else f.reach_m end) + 0.01 as m,
        t.geom
      from first f
      cross join target t
    ),
    -- A degree of latitude is at least 110,574 m long.
    box as (
      select
        st_expand(r.geom, r.m / (110574 * cos(radians(st_y(r.geom)))) * 1.01, r.m / 110574 * 1.01) as around,
        r.geom
      from reach r
    ),
    found as (
      select
        a.region_code,
        a.address_id,
        round(st_distance(a.geom::geography, b.geom::geography)::numeric, 2) as distance_m
      from box b
      join core.access_point a on a.geom && b.around
    ),
    nearest as (
      select
        f.region_code,
        f.address_id,
        f.distance_m
      from found f
      where f.distance_m <= p_radius_m
      order by f.distance_m, f.address_id
      limit p_limit
    )
    select coalesce(
      jsonb_agg(
        api.address_json(n.region_code, n.address_id, null::core.parcel) || jsonb_build_object('distance_meters', trim_scale(n.distance_m))
        order by n.distance_m, n.address_id
      ),
      '[]'::jsonb
    )
    from nearest n
  );
end
$$;
comment on function api.geocode_reverse(float8, float8, float8, int4) is 'At most p_limit addresses within p_radius_m metres of a point (latitude, longitude), with distance_meters, nearest first. Addresses with equal distances are ordered by address_id';
