-- purpose: parcels at a point, and in a box
-- reads: core.parcel
-- writes: api.located_parcel, api.locate_point, api.locate_box
-- grain: one call per answer
-- crs: EPSG:4326, longitude latitude

create or replace function api.located_parcel(p_fid int4, p_gml_id text, p_label text, p_reference text, p_belfiore text, p_area_m2 float8, p_point geometry) returns json
language sql stable as $$
  select json_build_object(
    'fid', p_fid,
    'gml_id', p_gml_id,
    'label', p_label,
    'cadastral_reference', p_reference,
    'municipality', coalesce(
      api.municipality(p_belfiore),
      json_build_object('code', p_belfiore, 'name', null, 'province', null, 'region', null)
    ),
    'area_m2', trim_scale(round(p_area_m2::numeric, 2)),
    'centroid', json_build_object(
      'lat', trim_scale(round(st_y(p_point)::numeric, 7)),
      'lng', trim_scale(round(st_x(p_point)::numeric, 7))
    )
  )
$$;
comment on function api.located_parcel(int4, text, text, text, text, float8, geometry) is 'One parcel as the two forms of locate answer it';

create or replace function api.locate_point(p_lat float8, p_lng float8, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  with hit as (
    select
      row_number() over (order by p.area_m2, p.fid) as rank,
      p.*
    from (
      select
        q.fid,
        q.gml_id,
        q.label,
        q.reference,
        q.belfiore,
        q.area_m2,
        q.point
      from core.parcel q
      -- Not st_contains: a point on the border is in both parcels.
      where st_intersects(q.geom, st_setsrid(st_makepoint(p_lng, p_lat), 4326))
      order by q.area_m2, q.fid
      limit p_limit + 1
    ) p
  )
  select api.envelope(
    json_agg(api.located_parcel(h.fid, h.gml_id, h.label, h.reference, h.belfiore, h.area_m2, h.point) order by h.rank) filter (where h.rank <= p_limit),
    json_build_object('mode', 'point', 'lat', p_lat, 'lng', p_lng, 'limit', p_limit, 'count', least(count(*), p_limit), 'truncated', count(*) > p_limit)
  )
  into answer
  from hit h;
end
$$;
comment on function api.locate_point(float8, float8, int4) is 'Parcels that contain a point (degrees), border included, smallest first';

create or replace function api.locate_box(p_west float8, p_south float8, p_east float8, p_north float8, p_limit int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
declare
  v_box constant geometry := st_makeenvelope(p_west, p_south, p_east, p_north, 4326);
  v_fid int4;
  v_parcel json;
  v_found json[] := '{}';
  v_truncated bool := false;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  -- A box may touch tens of thousands of parcels: they are put in order by number alone, and looked at closely only until enough are found.
  for v_fid in
    select q.fid
    from core.parcel q
    where q.geom && v_box
    order by q.fid
  loop
    select api.located_parcel(p.fid, p.gml_id, p.label, p.reference, p.belfiore, p.area_m2, p.point)
    into v_parcel
    from core.parcel p
    where p.fid = v_fid
      and st_intersects(p.geom, v_box);
    continue when not found;
    v_truncated := cardinality(v_found) = p_limit;
    exit when v_truncated;
    v_found := v_found || v_parcel;
  end loop;
  answer := api.envelope(
    to_json(v_found),
    json_build_object(
      'mode', 'bbox', 'bbox', json_build_array(p_west, p_south, p_east, p_north), 'limit', p_limit, 'count', cardinality(v_found), 'truncated', v_truncated
    )
  );
end
$$;
comment on function api.locate_box(float8, float8, float8, float8, int4) is 'Parcels that intersect a box (degrees), by fid';
