-- purpose: parcels and their sections as OGC API - Features
-- reads: core.comune_catastale, core.parcel, core.region_box, ledger.publication
-- writes: api.geojson_in, api.in_stored_system, api.feature_text, api.ogc_filter, api.features_in_box, api.features_of_comune, api.features_by_fid, api.features, api.feature, api.features_extent
-- grain: one call per response
-- crs: EPSG:4326, longitude latitude (CRS84); responses, boxes and filters may use other systems

-- In this file, argument p_section is the section of a collection (null: the collection parcels). Argument p_crs has the SRID, number of decimals and axis
-- order of a response, {"srid", "digits", "swap"} (null: CRS84).

create or replace function api.geojson_in(p_geom geometry, p_srid int4, p_digits int4, p_swap bool) returns json
language sql stable as $$
  -- Shifts the geometry by 1e-10° before the transformation, as api.geojson does before rounding.
  select st_asgeojson(
    case
      when p_swap then st_flipcoordinates(st_transform(st_forcepolygonccw(st_translate(p_geom, 1e-10, 1e-10)), p_srid))
      else st_transform(st_forcepolygonccw(st_translate(p_geom, 1e-10, 1e-10)), p_srid)
    end,
    p_digits,
    0
  )::json
$$;
comment on function api.geojson_in(geometry, int4, int4, bool) is 'GeoJSON geometry in a given coordinate system. Argument p_digits is the number of decimals. If p_swap is true, y comes before x in each position';

create or replace function api.in_stored_system(p_geom geometry, p_srid int4) returns geometry
language sql stable as $$
  -- An edge that is straight in the request's coordinate system is a curve in EPSG:4326. Edges are therefore split into parts of at most 1,000 m, which differ
  -- from the curve by at most 2 cm. Edges in degrees need no division.
  select case
    when p_srid = 4326 then st_setsrid(p_geom, 4326)
    else st_transform(st_segmentize(st_setsrid(p_geom, p_srid), 1000), 4326)
  end
$$;
comment on function api.in_stored_system(geometry, int4) is 'Transforms a geometry of a request to EPSG:4326. Coordinates have x before y';

create or replace function api.feature_text(p_fid int4, p_section text, p_crs json) returns text
language plpgsql stable as $$
declare
  v_found core.parcel;
  v_section record;
  v_block text;
  v_facts text;
begin
  select *
  into v_found
  from core.parcel p
  where p.fid = p_fid;
  if v_found.fid is null then
    return null;
  end if;
  v_facts := json_build_object(
    'cadastral_reference', v_found.reference,
    'region_code', core.region_of(p_fid),
    'municipality_code', v_found.belfiore,
    'sheet', nullif(ltrim(v_found.sheet, '0'), ''),
    'label', v_found.label,
    'kind', v_found.kind,
    'area_m2', api.shown_area(v_found.area_m2)
  );
  if p_section is not null then
    v_section := api.section_record(p_section, p_fid, null::core.parcel);
    v_block := coalesce(v_section.value::text, 'null');
    -- Adds the members as text, because jsonb would sort the members.
    v_facts := left(v_facts, -1) || ','
      || (
        api.cite(
          core.region_of(p_fid), array[p_section], array[v_block], array(select replace(k.key, '@', v_found.belfiore) from unnest(v_section.keys) as k (key)), null::core.parcel
        )
      ).blocks
      || case
        when p_section = any (api.covered_sections()) then ',"coverage":"'
          || api.section_coverage(core.region_of(p_fid), v_found.belfiore, v_found.point, v_found.kind, p_section, v_section.linked, v_block not in ('null', '[]'), null::core.parcel) || '"'
        else ''
      end || '}';
  end if;
  return '{"type":"Feature","id":' || p_fid || ',"geometry":'
    || case
      when p_crs is null then api.geojson(v_found.geom)
      else api.geojson_in(v_found.geom, (p_crs ->> 'srid')::int4, (p_crs ->> 'digits')::int4, (p_crs ->> 'swap')::bool)
    end
    || ',"properties":' || v_facts || '}';
end
$$;
comment on function api.feature_text(int4, text, json) is 'A parcel as the text of a GeoJSON feature, with the block and coverage of a section. Null if there is no such parcel';

create or replace function api.ogc_filter(p_parcel core.parcel, p_filter jsonb, p_shapes geometry[]) returns bool
language plpgsql stable as $$
declare
  v_op constant text := p_filter ->> 'op';
  v_property constant text := p_filter ->> 'property';
  v_arg jsonb;
  v_result bool;
  v_text text;
  v_number numeric;
begin
  case v_op
    when 'and' then
      v_result := true;
      for v_arg in
        select a.value
        from jsonb_array_elements(p_filter -> 'args') as a (value)
      loop
        v_result := v_result and api.ogc_filter(p_parcel, v_arg, p_shapes);
        exit when not v_result;
      end loop;
      return v_result;
    when 'or' then
      v_result := false;
      for v_arg in
        select a.value
        from jsonb_array_elements(p_filter -> 'args') as a (value)
      loop
        v_result := v_result or api.ogc_filter(p_parcel, v_arg, p_shapes);
        exit when v_result;
      end loop;
      return v_result;
    when 'not' then
      return not api.ogc_filter(p_parcel, p_filter -> 'args' -> 0, p_shapes);
    when 'literal' then
      return (p_filter ->> 'value')::bool;
    when 's_intersects' then
      return st_intersects(p_parcel.geom, p_shapes[(p_filter ->> 'shape')::int4]);
    else
      null;
  end case;
  v_text := case v_property
    when 'cadastral_reference' then p_parcel.reference
    when 'municipality_code' then p_parcel.belfiore
    when 'sheet' then nullif(ltrim(p_parcel.sheet, '0'), '')
    when 'label' then p_parcel.label
    when 'kind' then p_parcel.kind
  end;
  v_number := case v_property
    when 'region_code' then core.region_of(p_parcel.fid)
    when 'area_m2' then api.shown_area(p_parcel.area_m2)
  end;
  if v_op = 'isNull' then
    return v_text is null and v_number is null;
  end if;
  if v_op = 'in' then
    return p_filter -> 'values' @> coalesce(to_jsonb(v_number), to_jsonb(v_text));
  end if;
  if v_op = 'between' then
    return v_number between (p_filter ->> 'low')::numeric and (p_filter ->> 'high')::numeric;
  end if;
  if v_op = 'like' then
    return v_text collate "C" like p_filter ->> 'value';
  end if;
  if v_number is not null then
    return case v_op
      when '=' then v_number = (p_filter ->> 'value')::numeric
      when '<>' then v_number <> (p_filter ->> 'value')::numeric
      when '<' then v_number < (p_filter ->> 'value')::numeric
      when '<=' then v_number <= (p_filter ->> 'value')::numeric
      when '>' then v_number > (p_filter ->> 'value')::numeric
      when '>=' then v_number >= (p_filter ->> 'value')::numeric
    end;
  end if;
  return case v_op
    when '=' then v_text = p_filter ->> 'value'
    when '<>' then v_text <> p_filter ->> 'value'
    when '<' then v_text collate "C" < p_filter ->> 'value'
    when '<=' then v_text collate "C" <= p_filter ->> 'value'
    when '>' then v_text collate "C" > p_filter ->> 'value'
    when '>=' then v_text collate "C" >= p_filter ->> 'value'
  end;
end
$$;
comment on function api.ogc_filter(core.parcel, jsonb, geometry[]) is 'True if a parcel meets the conditions of a parsed filter. Null if the result is unknown because a value is null. Argument p_shapes has the geometries to which the s_intersects conditions refer by number';

create or replace function api.features_in_box(p_box geometry, p_from int4, p_until int4, p_comune text, p_kind text, p_limit int4) returns int4[]
language plpgsql stable as $$
declare
  v_fid int4;
  v_fids int4[] := '{}';
begin
  -- A box may touch tens of thousands of parcels. Therefore parcels are sorted by fid and tested one by one until the page is full.
  for v_fid in
    select q.fid
    from core.parcel q
    where q.geom && p_box
      -- Tests the range with `<@`. With `fid >=`, PostgreSQL would use the index on fid instead of the more selective spatial index.
      and q.fid <@ int4range(p_from, greatest(p_from, p_until))
      and (p_comune is null or q.belfiore = p_comune)
      and (p_kind is null or q.kind = p_kind)
    order by q.fid
  loop
    continue when not exists (select from core.parcel p where p.fid = v_fid and st_intersects(p.geom, p_box));
    v_fids := v_fids || v_fid;
    exit when cardinality(v_fids) = p_limit;
  end loop;
  return v_fids;
end
$$;
comment on function api.features_in_box(geometry, int4, int4, text, text, int4) is 'Fids of the parcels that intersect a small box, in ascending order, at most p_limit. Only fids from p_from to before p_until are returned, and only parcels of the given comune and kind (null: any)';

create or replace function api.features_of_comune(
  p_comune text, p_box geometry, p_from int4, p_until int4, p_kind text, p_after_reference text, p_after int4, p_limit int4
) returns int4[]
language plpgsql stable as $$
declare
  v_stretch text;
  v_fids int4[] := '{}';
begin
  -- In the index of references, a comune is one range. In a land register, each comune catastale is one range.
  for v_stretch in
    select s.start
    from (
      select p_comune as start
      union all
      select t.prefix || '.'
      from core.comune_catastale t
      where t.belfiore = p_comune
    ) s
    order by s.start
  loop
    v_fids := v_fids || array(
      select p.fid
      from core.parcel p
      where p.reference > v_stretch
        and p.reference < v_stretch || 'zzzz'
        and starts_with(p.reference, v_stretch)
        and p.reference >= p_after_reference
        and (p.reference, p.fid) > (p_after_reference, p_after)
        and p.belfiore = p_comune
        -- Tests the range with `<@`, for which PostgreSQL cannot use the index on fid. PostgreSQL therefore reads only the index of references.
        and p.fid <@ int4range(p_from, greatest(p_from, p_until))
        and (p_kind is null or p.kind = p_kind)
        and (p_box is null or st_intersects(p.geom, p_box))
      order by p.reference, p.fid
      limit p_limit - cardinality(v_fids)
    );
    exit when cardinality(v_fids) = p_limit;
  end loop;
  return v_fids;
end
$$;
comment on function api.features_of_comune(text, geometry, int4, int4, text, text, int4, int4) is 'Fids of the parcels of a comune that follow a given reference and fid, sorted by reference and fid, at most p_limit. Only fids from p_from to before p_until are returned, and only parcels of the given kind that intersect the given box (null: any)';

create or replace function api.features_by_fid(
  p_box geometry, p_firsts int4[], p_from int4, p_until int4, p_kind text, p_after int4, p_limit int4, out fids int4[], out looked_until int4
)
language plpgsql stable as $$
declare
  -- Maximum number of parcels to read in each region for a page, because many parcels may not match. If the number is reached, the next page continues after
  -- the last parcel read.
  v_most constant int4 := case when p_box is null and p_kind is null then p_limit else 20000 end;
  v_region record;
  v_page record;
begin
  fids := '{}';
  for v_region in
    select
      greatest(p_from, p_firsts[u.unit_code], p_after + 1) as first,
      least(p_until, p_firsts[u.unit_code + 1]) as last
    from ledger.publication u
    left join core.region_box b on b.region_code = u.unit_code
    where u.state = 'current'
      and u.unit_code > 0
      and p_firsts[u.unit_code + 1] > p_after + 1
      -- The box is enlarged by 0.5°, because region boxes are approximate and some parcels extend beyond the region's border.
      and (p_box is null or b.geom is null or st_expand(b.geom, 0.5) && p_box)
    order by u.unit_code
  loop
    select
      array_agg(c.fid order by c.fid) filter (where (p_kind is null or c.kind = p_kind) and (p_box is null or st_intersects(c.geom, p_box))) as fids,
      case when count(*) = v_most then max(c.fid) end as last
    into v_page
    from (
      select
        q.fid,
        q.kind,
        q.geom
      from core.parcel q
      where q.fid >= v_region.first
        and q.fid < v_region.last
      order by q.fid
      limit v_most
    ) c;
    fids := (fids || coalesce(v_page.fids, '{}'))[: p_limit];
    exit when cardinality(fids) = p_limit;
    looked_until := v_page.last;
    exit when looked_until is not null;
  end loop;
end
$$;
comment on function api.features_by_fid(geometry, int4[], int4, int4, text, int4, int4) is 'Fids of parcels in ascending order, region by region. Result looked_until is the last fid read, if the limit of parcels to read was reached. Result looked_until is null if fids has the requested number of fids, or if all parcels were read';

create or replace function api.features(
  p_section text, p_boxes float8[], p_is_small bool, p_firsts int4[], p_range int4[], p_equal json, p_after_reference text, p_after int4, p_limit int4,
  out publication text, out problem text, out features text, out returned int4, out next_reference text, out next int4, out licenses text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_from constant int4 := p_range[1];
  v_until constant int4 := p_range[2];
  v_comune constant text := p_equal ->> 'municipality_code';
  v_reference constant text := p_equal ->> 'cadastral_reference';
  v_kind constant text := p_equal ->> 'kind';
  -- A response has at most 1 MiB, and 64 KiB are reserved for links and licences.
  v_most_bytes constant int4 := 1048576 - 65536;
  v_filter constant json := p_equal -> 'filter';
  v_where constant jsonb := v_filter -> 'where';
  v_shapes geometry[];
  -- Maximum number of candidate parcels of a page. With a filter, this number limits the time to test the candidates. If this many candidates are tested, the
  -- next page continues after the last candidate.
  v_look constant int4 := case when v_filter is null then p_limit + 1 else greatest(1, 20000 / (v_filter ->> 'conditions')::int4) end;
  v_is_small bool := p_is_small;
  v_candidates int4[];
  v_parcel core.parcel;
  v_box geometry;
  v_fids int4[];
  v_text text;
  v_texts text[] := '{}';
  v_bytes int4 := 0;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  -- A box across the antimeridian is searched as two boxes. A box without width or height is searched as a line or a point, because a polygon without area is
  -- invalid.
  v_box := (
    select api.in_stored_system(
      st_collect(
        case
          when b.west = b.east and b.south = b.north then st_makepoint(b.west, b.south)
          when b.west = b.east or b.south = b.north then st_makeline(st_makepoint(b.west, b.south), st_makepoint(b.east, b.north))
          else st_makeenvelope(b.west, b.south, b.east, b.north)
        end
      ),
      (p_equal ->> 'box_srid')::int4
    )
    from (
      select
        p_boxes[n] as west,
        p_boxes[n + 1] as south,
        p_boxes[n + 2] as east,
        p_boxes[n + 3] as north
      from generate_series(1, coalesce(cardinality(p_boxes), 0), 4) as g (n)
    ) b
  );
  if v_where is not null then
    v_shapes := array(
      select api.in_stored_system(st_geomfromgeojson(s.value::text), (v_filter ->> 'srid')::int4)
      from json_array_elements(v_filter -> 'shapes') with ordinality as s (value, place)
      order by s.place
    );
    problem := (
      select st_isvalidreason(s.geom)
      from unnest(v_shapes) as s (geom)
      where not st_isvalid(s.geom)
      limit 1
    );
    if problem is not null then
      return;
    end if;
    if v_box is null and v_filter ->> 'box' is not null then
      v_box := st_envelope(v_shapes[(v_filter ->> 'box')::int4]);
      v_is_small := greatest(st_xmax(v_box) - st_xmin(v_box), st_ymax(v_box) - st_ymin(v_box)) <= (v_filter ->> 'small')::float8;
    end if;
  end if;
  -- Without a filter, selects one parcel more than the page needs, to detect whether a next page exists.
  if v_reference is not null then
    v_fids := array(
      select p.fid
      from core.parcel p
      where p.reference = v_reference
        and p.fid > p_after
        and p.fid >= v_from
        and p.fid < v_until
        and (v_comune is null or p.belfiore = v_comune)
        and (v_kind is null or p.kind = v_kind)
        and (v_box is null or st_intersects(p.geom, v_box))
      order by p.fid
      limit v_look
    );
  elsif v_is_small then
    v_fids := api.features_in_box(v_box, greatest(v_from, p_after + 1), v_until, v_comune, v_kind, v_look);
  elsif v_comune is not null then
    v_fids := api.features_of_comune(v_comune, v_box, v_from, v_until, v_kind, p_after_reference, p_after, v_look);
  else
    select
      f.fids,
      f.looked_until
    into v_fids, next
    from api.features_by_fid(v_box, p_firsts, v_from, v_until, v_kind, p_after, v_look) f;
  end if;
  if v_where is not null then
    v_candidates := v_fids;
    v_fids := '{}';
    for v_place in 1 .. cardinality(v_candidates) loop
      select *
      into v_parcel
      from core.parcel p
      where p.fid = v_candidates[v_place];
      continue when not coalesce(api.ogc_filter(v_parcel, v_where, v_shapes), false);
      v_fids := v_fids || v_parcel.fid;
      exit when cardinality(v_fids) > p_limit;
    end loop;
    if cardinality(v_candidates) = v_look then
      next := v_candidates[v_look];
    end if;
  end if;
  if cardinality(v_fids) > p_limit then
    v_fids := v_fids[: p_limit];
    next := v_fids[p_limit];
  end if;
  -- Builds the features one by one, so at most one feature is built and not used. The first feature is always returned.
  for v_place in 1 .. cardinality(v_fids) loop
    v_text := api.feature_text(v_fids[v_place], p_section, p_equal -> 'crs');
    v_bytes := v_bytes + octet_length(v_text) + 1;
    if v_place > 1 and v_bytes > v_most_bytes then
      v_fids := v_fids[: v_place - 1];
      next := v_fids[v_place - 1];
      exit;
    end if;
    v_texts := v_texts || v_text;
  end loop;
  if next is not null and v_comune is not null and not v_is_small and v_reference is null then
    next_reference := (select p.reference from core.parcel p where p.fid = next);
  end if;
  returned := cardinality(v_fids);
  features := array_to_string(v_texts, ',');
  licenses := api.licenses_of(
    array(select distinct core.region_of(f.fid)::int4 from unnest(v_fids) as f (fid) order by 1), '{}', array_remove(array['basic', p_section], null)
  );
end
$$;
comment on function api.features(text, float8[], bool, int4[], int4[], json, text, int4, int4) is 'A page of features as JSON text, without brackets. Argument p_boxes has west, south, east and north of each box (null: no box). Argument p_is_small: the boxes contain few parcels. Argument p_firsts has the first fid of each region and the fid after the last region. Argument p_range has the first fid, and the first fid after the range. Argument p_equal has the members municipality_code, cadastral_reference, kind, filter and crs, each only if requested, and box_srid, the SRID of the boxes. The page starts after p_after_reference and p_after (first page: empty and -1). The filter has its conditions, the number of conditions, its geometries and their SRID. The filter also has the geometry whose box selects candidates, and the maximum size of a small box in degrees. If a geometry is invalid, result problem explains why, and there is no page. The next page starts after next and next_reference. On the last page, next is null';

create or replace function api.feature(p_fid int4, p_section text, p_crs json, out publication text, out feature text, out licenses text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(core.region_of(p_fid));
  feature := api.feature_text(p_fid, p_section, p_crs);
  licenses := api.licenses_of(array[core.region_of(p_fid)::int4], '{}', array_remove(array['basic', p_section], null));
end
$$;
comment on function api.feature(int4, text, json) is 'A feature as JSON text, and the attributions of its data. Result feature is null if there is no such parcel';

create or replace function api.features_extent(out publication text, out extent float8[])
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  select array[st_xmin(e.box), st_ymin(e.box), st_xmax(e.box), st_ymax(e.box)]
  into extent
  from (
    select st_extent(st_expand(b.geom, 0.5)) as box
    from ledger.publication u
    join core.region_box b on b.region_code = u.unit_code
    where u.state = 'current'
  ) e
  where e.box is not null;
end
$$;
comment on function api.features_extent() is 'Approximate box of all features in degrees: west, south, east, north. Null if no region is published';
