-- purpose: the parcels that share a border with a parcel
-- reads: core.parcel
-- writes: api.parcel_neighbours
-- grain: one call per response
-- crs: EPSG:4326; distances are measured in the UTM zone, lengths are geodesic (geography)

create or replace function api.parcel_neighbours(p_fid int4, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  -- Maximum distance in metres between the borders of two parcels that count as one shared border, and minimum length of a shared border.
  c_tolerance_m constant float8 := 0.10;
  v_parcel core.parcel;
  v_zone int4;
  v_border geometry;
begin
  perform api.hold_publication();
  -- A neighbour may be in another region.
  publication := api.publication_tag(null);
  select *
  into v_parcel
  from core.parcel p
  where p.fid = p_fid;
  if not found then
    return;
  end if;
  v_zone := 32631 + floor(st_x(v_parcel.point) / 6)::int4;
  -- Edges are straight lines in degrees, but curves in the UTM zone. Segments of at most 0.001 degrees (110 m) are almost straight in both.
  v_border := st_boundary(st_transform(st_segmentize(v_parcel.geom, 0.001), v_zone));
  with near as (
    select
      q.fid,
      q.kind,
      st_transform(st_segmentize(q.geom, 0.001), v_zone) as geom
    from core.parcel q
    -- In Italy, 0.10 m is less than 2e-6 degrees in both directions.
    where q.geom && st_expand(v_parcel.geom, 2e-6)
      and q.fid <> p_fid
  ),
  sharing as (
    select
      n.fid,
      n.kind,
      s.shared_m
    from near n
    cross join lateral (
      -- The border of a road parcel may be very long. Only its part in the neighbour's box is measured.
      select round(st_length(st_transform(st_intersection(b.border, st_buffer(n.geom, c_tolerance_m)), 4326)::geography)::numeric, 2) as shared_m
      from (select st_clipbybox2d(v_border, st_expand(n.geom, 2 * c_tolerance_m)) as border) b
      offset 0
    ) s
    where s.shared_m >= c_tolerance_m
  ),
  shown as (
    select *
    from sharing
    order by
      shared_m desc,
      fid
    limit p_limit
  )
  select api.envelope(
    (
      select json_agg(
        (left(api.located_parcel(n.fid, 'parcel', null)::text, -1) || ',"kind":' || to_json(n.kind) || ',"shared_m":' || n.shared_m || '}')::json
        order by
          n.shared_m desc,
          n.fid
      )
      from shown n
    ),
    json_build_object(
      'fid', p_fid,
      'count', (select count(*) from shown),
      'truncated', (select count(*) from sharing) > p_limit
    )
  )
  into answer;
end
$$;
comment on function api.parcel_neighbours(int4, int4) is 'Parcels that share a border of at least 0.10 m with a parcel, with the length of the shared border in metres, longest first. A border is shared where the distance is at most 0.10 m. Result answer is null if the parcel is not published';
