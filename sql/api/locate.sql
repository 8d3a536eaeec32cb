-- purpose: parcels at points, in a box or polygon, and by cadastral identifiers
-- reads: core.parcel, core.comune_catastale
-- writes: api.located_parcel, api.located_answer, api.parcels_at, api.locate_point, api.locate_points, api.parcels_meeting, api.located_page, api.locate_box, api.locate_polygon, api.search_parcels
-- grain: one call per response
-- crs: EPSG:4326, longitude latitude

-- In this file, argument p_form is the format of a parcel: parcel, geometry (the parcel with its geometry and kind) or feature (GeoJSON).

create or replace function api.located_parcel(p_fid int4, p_form text, p_point json) returns json
language plpgsql stable as $$
declare
  v_found core.parcel;
  v_facts text;
  v_geometry json;
begin
  -- Reads the parcel in a separate statement, because parcels may be on other nodes, but comuni are on this node.
  select *
  into v_found
  from core.parcel p
  where p.fid = p_fid;
  v_facts := json_build_object(
    'fid', v_found.fid,
    'gml_id', v_found.gml_id,
    'label', v_found.label,
    'cadastral_reference', v_found.reference,
    'municipality', api.known_municipality(v_found.belfiore, null::core.parcel),
    'area_m2', api.shown_area(v_found.area_m2),
    'centroid', api.centroid(v_found.point)
  );
  v_geometry := case when p_form <> 'parcel' then api.geojson(v_found.geom) end;
  -- Adds the members as text, because jsonb would sort the members.
  if p_point is not null then
    v_facts := '{"point":' || p_point || ',' || substr(v_facts, 2);
  end if;
  return case p_form
    when 'geometry' then left(v_facts, -1) || ',"kind":' || to_json(v_found.kind) || ',"geometry":' || v_geometry || '}'
    when 'feature' then
      '{"type":"Feature","id":' || p_fid || ',"geometry":' || v_geometry || ',"properties":' || left(v_facts, -1) || ',"kind":' || to_json(v_found.kind) || '}}'
    else v_facts
  end;
end
$$;
comment on function api.located_parcel(int4, text, json) is 'A parcel in the format of locate and search responses. Argument p_point is the point at which the parcel was found, null if the response does not contain the point';

create or replace function api.located_answer(p_found json, p_meta json, p_form text) returns text
language sql stable as $$
  select case
    when p_form = 'feature' then concat('{"type":"FeatureCollection","features":', coalesce(p_found::text, '[]'), ',"meta":', p_meta::text, '}')
    else api.envelope(p_found, p_meta)
  end
$$;
comment on function api.located_answer(json, json, text) is 'JSON text of a response with the found parcels (results of api.located_parcel) and the member meta. Argument p_found is null if no parcel was found';

create or replace function api.parcels_at(p_lat float8, p_lng float8, p_limit int4) returns int4[]
language plpgsql stable as $$
begin
  return array(
    select p.fid
    from core.parcel p
    -- Uses a distance of 1e-7° instead of st_intersects, so that a point on a border finds both parcels. A vertex copied from a geometry with 7 decimals finds
    -- all parcels that share the vertex.
    where st_dwithin(p.geom, st_setsrid(st_makepoint(p_lng, p_lat), 4326), 1e-7)
    order by api.shown_area(p.area_m2), p.fid
    limit p_limit + 1
  );
end
$$;
comment on function api.parcels_at(float8, float8, int4) is 'Fids of parcels that contain a point (degrees) or are at most 1e-7° from the point, smallest parcel first. Returns one fid more than the limit if there are more parcels';

create or replace function api.locate_point(p_lat float8, p_lng float8, p_limit int4, p_form text, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_fids int4[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_fids := api.parcels_at(p_lat, p_lng, p_limit);
  select api.located_answer(
    json_agg(api.located_parcel(f.fid, p_form, null) order by f.place),
    json_build_object(
      'mode', 'point', 'lat', p_lat, 'lng', p_lng, 'limit', p_limit, 'count', least(cardinality(v_fids), p_limit), 'truncated', cardinality(v_fids) > p_limit
    ),
    p_form
  )
  into answer
  from unnest(v_fids[: p_limit]) with ordinality as f (fid, place);
end
$$;
comment on function api.locate_point(float8, float8, int4, text) is 'Parcels that contain a point (degrees) or have the point on their border, smallest parcel first';

create or replace function api.locate_points(p_lats float8[], p_lngs float8[], p_limit int4, p_form text, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  with at as materialized (
    select
      a.place,
      json_build_object('lat', a.lat, 'lng', a.lng) as point,
      api.parcels_at(a.lat, a.lng, p_limit) as fids
    from unnest(p_lats, p_lngs) with ordinality as a (lat, lng, place)
  ),
  found as (
    select
      json_agg(api.located_parcel(f.fid, p_form, a.point) order by a.place, f.place) as parcels,
      count(*) as n
    from at a
    cross join lateral unnest(a.fids[: p_limit]) with ordinality as f (fid, place)
  )
  select api.located_answer(
    f.parcels,
    json_build_object(
      'mode', 'points',
      'points', (
        select json_agg(
          json_build_object(
            'lat', a.point -> 'lat', 'lng', a.point -> 'lng', 'count', least(cardinality(a.fids), p_limit), 'truncated', cardinality(a.fids) > p_limit
          )
          order by a.place
        )
        from at a
      ),
      'limit', p_limit,
      'count', f.n,
      'truncated', (select bool_or(cardinality(a.fids) > p_limit) from at a)
    ),
    p_form
  )
  into answer
  from found f;
end
$$;
comment on function api.locate_points(float8[], float8[], int4, text) is 'Parcels at each of the given points (degrees), including parcels with the point on their border. Ordered by point, and for each point smallest parcel first. The limit applies to each point';

create or replace function api.parcels_meeting(p_area geometry, p_after int4, p_limit int4) returns int4[]
language plpgsql stable as $$
declare
  v_fid int4;
  v_fids int4[] := '{}';
begin
  -- An area may touch tens of thousands of parcels. Therefore parcels are sorted by fid and tested one by one until the page is full.
  for v_fid in
    select q.fid
    from core.parcel q
    where q.geom && st_expand(p_area, 1e-7)
      and q.fid > p_after
    order by q.fid
  loop
    continue when not exists (select from core.parcel p where p.fid = v_fid and st_dwithin(p.geom, p_area, 1e-7));
    v_fids := v_fids || v_fid;
    exit when cardinality(v_fids) > p_limit;
  end loop;
  return v_fids;
end
$$;
comment on function api.parcels_meeting(geometry, int4, int4) is 'Fids greater than p_after of parcels that intersect an area (degrees) or are within 1e-7° of the area, in ascending order. Returns one fid more than the limit if there are more parcels';

create or replace function api.located_page(p_fids int4[], p_mode text, p_area json, p_after int4, p_limit int4, p_form text) returns text
language sql stable as $$
  select api.located_answer(
    json_agg(api.located_parcel(f.fid, p_form, null) order by f.fid),
    json_build_object(
      'mode', p_mode,
      p_mode, p_area,
      'after', nullif(p_after, -1),
      'limit', p_limit,
      'count', least(cardinality(p_fids), p_limit),
      'truncated', cardinality(p_fids) > p_limit
    ),
    p_form
  )
  from unnest(p_fids[: p_limit]) as f (fid)
$$;
comment on function api.located_page(int4[], text, json, int4, int4, text) is 'JSON text of a page of parcels in an area, with the mode and the area of the request. Argument p_fids is a result of api.parcels_meeting';

create or replace function api.locate_box(
  p_west float8, p_south float8, p_east float8, p_north float8, p_after int4, p_limit int4, p_form text, out publication text, out answer text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  -- A box without width or height is searched as a line or a point, because a polygon without area is invalid.
  v_box constant geometry := st_setsrid(
    case
      when p_west = p_east and p_south = p_north then st_makepoint(p_west, p_south)
      when p_west = p_east or p_south = p_north then st_makeline(st_makepoint(p_west, p_south), st_makepoint(p_east, p_north))
      else st_makeenvelope(p_west, p_south, p_east, p_north)
    end,
    4326
  );
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := api.located_page(api.parcels_meeting(v_box, p_after, p_limit), 'bbox', json_build_array(p_west, p_south, p_east, p_north), p_after, p_limit, p_form);
end
$$;
comment on function api.locate_box(float8, float8, float8, float8, int4, int4, text) is 'Page of parcels that intersect a box (degrees) or are within 1e-7° of the box, ordered by fid. The page starts after the fid p_after (-1: at the first parcel)';

create or replace function api.locate_polygon(
  p_wkt text, p_after int4, p_limit int4, p_form text, out publication text, out answer text, out problem text, out area_m2 float8
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_polygon constant geometry := st_geomfromtext(p_wkt, 4326);
begin
  if not st_isvalid(v_polygon) then
    problem := st_isvalidreason(v_polygon);
    return;
  end if;
  area_m2 := core.area_m2(v_polygon);
  -- The limit is 1 km².
  if area_m2 > 1000000 then
    return;
  end if;
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := api.located_page(api.parcels_meeting(v_polygon, p_after, p_limit), 'polygon', to_json(p_wkt), p_after, p_limit, p_form);
end
$$;
comment on function api.locate_polygon(text, int4, int4, text) is 'Page of parcels that intersect a polygon (WKT, degrees) or are within 1e-7° of the polygon, ordered by fid. The page starts after the fid p_after (-1: at the first parcel). Result answer is null if the polygon is invalid (result problem states why) or larger than 1 km² (result area_m2 states the area)';

create or replace function api.search_parcels(
  p_comuni text[], p_asked json, p_sheet text, p_label text, p_section text, p_limit int4, out publication text, out answer text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_stretch record;
  v_references text[] := '{}';
  v_fids int4[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  -- References have the form CCCCZFFFFAS.label. In the index on references, a comune is one range, and a sheet is one range for each possible section letter.
  -- Lower-case letters sort after all characters of a reference in every collation. Land registers have no sheets, so each comune catastale is one range. A
  -- comune catastale is found by name if no comune has the same name. Ranges are looked up one by one, because the planner would otherwise read the whole
  -- table.
  for v_stretch in
    select
      r.start,
      r.label_at
    from (
      select unnest(p_comuni) as belfiore
      union all
      select null
      where cardinality(p_comuni) = 0
    ) c
    cross join lateral (
      select
        c.belfiore || s.letter || p_sheet as start,
        13 as label_at
      from unnest(case when p_section is null then string_to_array('_ABCDEFGHIJKLMNOPQRSTUVWXYZ', null) else array[p_section] end) as s (letter)
      where p_sheet is not null
      union all
      select
        c.belfiore || coalesce(p_section, ''),
        13
      where p_sheet is null
      union all
      select
        t.prefix || '.',
        length(t.prefix) + 2
      from core.comune_catastale t
      where p_sheet is null
        and p_section is null
        and case
          when c.belfiore is not null then t.belfiore = c.belfiore
          else nullif(core.comune_key(p_asked ->> 'comune'), '') in (core.comune_key(t.name), core.comune_key(t.name_other))
        end
    ) r
  loop
    v_references := v_references || array(
      select x.reference
      from core.parcel x
      where x.reference > v_stretch.start
        and x.reference < v_stretch.start || 'zzzz'
        and starts_with(x.reference, v_stretch.start)
        and (p_label is null or core.upper_case(substr(x.reference, v_stretch.label_at)) = core.upper_case(p_label))
    );
  end loop;
  v_fids := array(
    select p.fid
    from core.parcel p
    where p.reference = any (v_references)
    order by
      p.sheet collate "C",
      p.belfiore collate "C",
      p.section collate "C" nulls first,
      p.attachment collate "C",
      p.development collate "C",
      -- Parcels of land registers are sorted by comune catastale, building parcels last.
      left(p.reference, -length(p.label)) collate "C",
      starts_with(p.label, '.'),
      -- Sorts labels by number, so that 2 is before 10, and labels with numbers before other labels.
      substring(p.label from '^[.]?([0-9]+)')::numeric nulls last,
      p.label collate "C",
      p.fid
    limit p_limit + 1
  );
  select api.envelope(
    json_agg(api.located_parcel(f.fid, 'parcel', null) order by f.place),
    (
      left(p_asked::text, -1) || ',"limit":' || p_limit || ',"count":' || least(cardinality(v_fids), p_limit) || ',"truncated":' || (cardinality(v_fids) > p_limit) || '}'
    )::json
  )
  into answer
  from unnest(v_fids[: p_limit]) with ordinality as f (fid, place);
end
$$;
comment on function api.search_parcels(text[], json, text, text, text, int4) is 'Parcels of given comuni by sheet (4 digits), label and section letter, sorted by sheet and label. Null arguments are ignored. Argument p_asked is a JSON object with the first members of meta. If no comuni are given, the name in p_asked is searched as the name of a comune catastale';
