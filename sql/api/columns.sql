-- purpose: batches of parcels with their sections as columns, found by points, fids, references, labels or queries
-- reads: core.parcel, core.parcel_register, core.comune, core.comune_catastale, core.region_box, layer.boundary, ledger.publication
-- writes: api.unpublished_region, api.parcels_of_points, api.parcels_of_fids, api.parcels_of_references, api.parcels_of_labels, api.parcels_of_queries, api.columns_of, api.parcel_columns, api.column_licenses
-- grain: one call per batch
-- crs: EPSG:4326, latitude and longitude in degrees

-- The functions api.parcels_of_... return arrays of arrays, which the program reads by position. Element place is the number of a row in the batch, from 1.
-- Rows without a result are left out. Each statement processes the whole batch. The plan does not depend on the size of the batch, and uses an index for any
-- size.

create or replace function api.unpublished_region(p_region int4) returns int4
language plpgsql stable as $$
begin
  return (
    select p_region
    where not exists (select from ledger.publication u where u.unit_code = p_region and u.state = 'current')
  );
end
$$;
comment on function api.unpublished_region(int4) is 'Returns the given region code if that region is not published. Null if the region is published or if the argument is null';

create or replace function api.parcels_of_points(p_lats float8[], p_lngs float8[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    with asked as materialized (
      select
        q.place,
        st_setsrid(st_makepoint(q.lng, q.lat), 4326) as point
      from unnest(p_lats, p_lngs) with ordinality as q (lat, lng, place)
    ),
    found as materialized (
      select
        a.place,
        array_agg(p.fid order by api.shown_area(p.area_m2), p.fid) as fids
      from asked a
      -- As in api.parcels_at, a point on a border, or a vertex copied with 7 decimals, is in all adjacent parcels.
      join core.parcel p on st_dwithin(p.geom, a.point, 1e-7)
      group by a.place
    ),
    -- If no parcel contains the point, tests whether a comune of an unpublished region contains the point. If no such comune is found, tests whether the point
    -- is outside the boxes of all published regions.
    abroad as (
      select
        a.place,
        coalesce(
          (
            select api.unpublished_region(c.region_code)
            from layer.boundary b
            join core.comune c on c.istat_code = b.code
            where b.kind = 'comune'
              and st_covers(b.geom, a.point)
            limit 1
          ),
          (
            select 0
            where not exists (
              select
              from core.region_box x
              join ledger.publication u
                on u.unit_code = x.region_code
                and u.state = 'current'
              where st_covers(x.geom, a.point)
            )
          )
        ) as region_code
      from asked a
      where not exists (select from found f where f.place = a.place)
    )
    select json_agg(json_build_array(x.place, x.fid, x.candidates, x.region_code))
    from (
      select
        f.place,
        f.fids[1] as fid,
        cardinality(f.fids) as candidates,
        null as region_code
      from found f
      union all
      select
        o.place,
        null,
        0,
        o.region_code
      from abroad o
      where o.region_code is not null
    ) x
  );
end
$$;
comment on function api.parcels_of_points(float8[], float8[]) is 'JSON array of [place, fid, candidates, region]: for each point (degrees), the smallest parcel with the point inside or on the border, and the number of such parcels. Element region is the code of the unpublished region that contains the point, or 0 if that region is unknown and the point is outside the boxes of all published regions';

create or replace function api.parcels_of_fids(p_fids int4[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    with asked as materialized (
      select
        q.place,
        q.fid
      from unnest(p_fids) with ordinality as q (fid, place)
    ),
    there as materialized (
      select p.fid
      from core.parcel p
      where p.fid = any (p_fids)
    ),
    retired as materialized (
      select
        r.fid,
        r.successor_fid
      from core.parcel_register r
      where r.fid = any (p_fids)
        and r.region_code = core.region_of(r.fid)
        and r.retired_on is not null
    )
    select json_agg(json_build_array(a.place, t.fid, (t.fid is not null)::int4, api.unpublished_region(core.region_of(a.fid)), r.fid is not null, r.successor_fid))
    from asked a
    left join there t on t.fid = a.fid
    left join retired r on r.fid = a.fid and t.fid is null
    where t.fid is not null
      or r.fid is not null
      or core.region_of(a.fid) between 1 and 20
  );
end
$$;
comment on function api.parcels_of_fids(int4[]) is 'JSON array of [place, fid, candidates, region, retired, successor]: for each fid, whether its parcel is published. Element region is the code of the fid''s region if that region is not published. Element retired is true if the fid was published earlier. Element successor is the fid of the published parcel with the same geometry';

create or replace function api.parcels_of_references(p_references text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_spellings constant text[] := p_references || array(select core.upper_case(r.reference) from unnest(p_references) as r (reference));
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    with asked as materialized (
      select
        q.place,
        q.reference
      from unnest(p_references) with ordinality as q (reference, place)
    ),
    there as materialized (
      select
        p.reference,
        min(p.fid) as fid,
        count(*) as candidates
      from core.parcel p
      where p.reference = any (v_spellings)
      group by p.reference
    ),
    -- Labels may have lower-case letters, so the spelling in upper case is used only if no parcel has the reference as written.
    found as (
      select
        a.place,
        a.reference,
        coalesce(t.fid, u.fid) as fid,
        coalesce(t.candidates, u.candidates, 0) as candidates
      from asked a
      left join there t on t.reference = a.reference
      left join there u on u.reference = core.upper_case(a.reference)
    ),
    gone as (
      select
        f.place,
        case when json_array_length(g.successors) = 1 then (g.successors #>> '{0,fid}')::int4 end as successor_fid
      from found f
      cross join lateral api.parcels_of_reference(array[f.reference, core.upper_case(f.reference)]) g
      where f.fid is null
        and g.successors is not null
    )
    select json_agg(json_build_array(f.place, f.fid, f.candidates, r.region_code, g.place is not null, g.successor_fid))
    from found f
    left join core.comune c on f.fid is null and c.belfiore = left(f.reference, 4)
    -- For a land register, the region follows from the beginning of the reference, IT.TN or IT.BZ.
    cross join lateral (select api.unpublished_region(coalesce(c.region_code, case when f.fid is null and f.reference ~ '^IT[.](TN|BZ)[.]' then 4 end)) as region_code) r
    left join gone g using (place)
    where f.fid is not null
      or g.place is not null
      or r.region_code is not null
  );
end
$$;
comment on function api.parcels_of_references(text[]) is 'JSON array of [place, fid, candidates, region, retired, successor]: the parcel of each national cadastral reference, as written or else in upper case. Element region is the code of the comune''s region if that region is not published. Element retired is true if no published parcel has the reference but an earlier parcel had it. Element successor is the fid of the only published parcel that replaced the parcels with the reference';

create or replace function api.parcels_of_labels(
  p_places int4[], p_comuni text[], p_names text[], p_sections text[], p_sheets text[], p_labels text[], out publication text, out answer text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    with asked as materialized (
      select
        q.place,
        -- A row may name the comune by its ISTAT code.
        coalesce(q.belfiore, c.belfiore) as belfiore,
        nullif(core.comune_key(q.name), '') as name_key,
        q.section,
        q.sheet,
        q.label
      from unnest(p_places, p_comuni, p_names, p_sections, p_sheets, p_labels) as q (place, belfiore, name, section, sheet, label)
      left join core.comune c
        on q.belfiore is null
        and c.istat_code = q.name
    ),
    -- As in api.search_parcels, a sheet is one range of references for each possible section letter. Each range is read only once per batch.
    sheet as (
      select distinct
        a.belfiore,
        a.section,
        a.sheet
      from asked a
      where a.belfiore is not null
        and a.sheet is not null
    ),
    drawn as materialized (
      select
        s.belfiore,
        s.section,
        s.sheet,
        core.upper_case(substr(p.reference, 13)) as label,
        p.fid
      from sheet s
      cross join lateral unnest(case when s.section is null then string_to_array('_ABCDEFGHIJKLMNOPQRSTUVWXYZ', null) else array[s.section] end) as l (letter)
      cross join lateral (select s.belfiore || l.letter || s.sheet as start) t
      join core.parcel p
        on p.reference > t.start
        and p.reference < t.start || 'zzzz'
        and starts_with(p.reference, t.start)
    ),
    -- Computes the keys of the land registers once per batch instead of once per row.
    land_register as materialized (
      select
        c.prefix,
        c.belfiore,
        array[core.comune_key(c.name), core.comune_key(c.name_other)] as name_keys
      from core.comune_catastale c
    ),
    -- A land register has no sheets, so the complete reference is known.
    registered as materialized (
      select
        a.place,
        p.fid
      from asked a
      join land_register c
        on case when a.belfiore is not null then c.belfiore = a.belfiore else a.name_key = any (c.name_keys) end
      join core.parcel p on p.reference = c.prefix || '.' || a.label
      where a.sheet is null
        and a.section is null
    ),
    found as (
      select
        x.place,
        min(x.fid) as fid,
        count(*) as candidates
      from (
        select
          a.place,
          d.fid
        from asked a
        join drawn d
          on d.belfiore = a.belfiore
          and d.section is not distinct from a.section
          and d.sheet = a.sheet
          and d.label = core.upper_case(a.label)
        union
        select
          r.place,
          r.fid
        from registered r
      ) x
      group by x.place
    ),
    elsewhere as (
      select
        a.place,
        min(api.unpublished_region(c.region_code)) as region_code
      from asked a
      join core.comune c on c.belfiore = a.belfiore
      where not exists (select from found f where f.place = a.place)
      group by a.place
    )
    select json_agg(json_build_array(y.place, y.fid, y.candidates, y.region_code))
    from (
      select
        f.place,
        f.fid,
        f.candidates,
        null as region_code
      from found f
      union all
      select
        e.place,
        null,
        0,
        e.region_code
      from elsewhere e
      where e.region_code is not null
    ) y
  );
end
$$;
comment on function api.parcels_of_labels(int4[], text[], text[], text[], text[], text[]) is 'JSON array of [place, fid, candidates, region]: the parcel of a comune (cadastral code, or null with the ISTAT code as its name), sheet (4 digits) and label. If several parcels match, the smallest fid is returned. Without a sheet, the parcel is in a land register, and the name may be the name of a comune catastale. Argument p_sections has section letters, null for any. If several comuni have the name that a row states, argument p_places has the number of the row once per comune';

create or replace function api.parcels_of_queries(p_readings jsonb, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    with hit as materialized (
      select
        q.place,
        h.nth,
        h.value as address
      from jsonb_array_elements(p_readings) with ordinality as q (readings, place)
      cross join lateral jsonb_array_elements(api.geocode_search(jsonb_build_object('readings', q.readings), 5)) with ordinality as h (value, nth)
    ),
    -- Keeps all results with the score and match type of the first result, because the query does not distinguish these results.
    best as materialized (
      select h.*
      from hit h
      join hit f
        on f.place = h.place
        and f.nth = 1
        and f.address -> 'score' = h.address -> 'score'
        and f.address -> 'match_type' = h.address -> 'match_type'
    ),
    held as materialized (
      select
        p.address_id,
        p.fid
      from api.parcels_of_addresses(
        (select array_agg((b.address ->> 'address_id')::int8) from best b),
        (select array_agg((b.address ->> 'latitude')::float8) from best b),
        (select array_agg((b.address ->> 'longitude')::float8) from best b)
      ) p
    ),
    placed as (
      select
        b.place,
        b.nth,
        b.address,
        (select min(h.fid) from held h where h.address_id = (b.address ->> 'address_id')::int8) as fid
      from best b
    )
    select json_agg(json_build_array(coalesce(g.place, o.place), g.fid, coalesce(g.candidates, 0), o.region_code, g.address))
    from (
      select
        p.place,
        (array_agg(p.fid order by p.nth))[1] as fid,
        -- Two addresses in the same parcel count as one candidate.
        count(distinct coalesce(p.fid::text, 'address ' || (p.address ->> 'address_id'))) as candidates,
        (array_agg(p.address order by p.nth))[1] as address
      from placed p
      group by p.place
    ) g
    full join (
      -- Queries without a result, if none of the regions of the named comuni is published.
      select
        q.place,
        min(u.region_code) as region_code
      from jsonb_array_elements(p_readings) with ordinality as q (readings, place)
      cross join lateral unnest(api.named_comuni(q.readings)) as n (belfiore)
      join core.comune c on c.belfiore = n.belfiore
      cross join lateral (select api.unpublished_region(c.region_code) as region_code) u
      where not exists (select from hit h where h.place = q.place)
      group by q.place
      having bool_and(u.region_code is not null)
    ) o on o.place = g.place
  );
end
$$;
comment on function api.parcels_of_queries(jsonb) is 'JSON array of [place, fid, candidates, region, address]: results of api.geocode_search for each query. Argument p_readings is an array with the array of readings of each query. Element fid is the parcel at the address, null if no parcel is there. Element candidates is the number of results that are as good as the first. Results in the same parcel count once. If no address is found, element region is the code of the named comune''s region, if that region is not published';

create or replace function api.columns_of(p_fids int4[], p_sections text[], p_from anyelement, out answer text)
language plpgsql stable as $$
declare
  v_section text;
  v_rows text;
  v_fids int4[];
  v_belfiori text[];
  v_points geometry[];
  v_kinds text[];
  -- Adds negative fids, which are unused and belong to several nodes. If a single node had all fids of a batch, Citus would send the whole
  -- statement to that node, although the node lacks the tables that the functions read.
  v_asked constant int4[] := p_fids || array(select -g.n from generate_series(1, 16) as g (n));
begin
  -- Reads the parcels in a separate statement, because Citus would send a statement with other tables to the node of the parcels, which lacks the local tables.
  with asked as materialized (
    select
      p.fid,
      p.belfiore,
      p.point,
      p.kind
    from parcel p
    where p.fid = any (p_fids)
  )
  select
    array_agg(p.fid),
    array_agg(p.belfiore),
    array_agg(p.point),
    array_agg(p.kind)
  into v_fids, v_belfiori, v_points, v_kinds
  from asked p;
  foreach v_section in array p_sections loop
    if v_section = any (api.covered_sections()) then
      with asked as materialized (
        select
          p.fid,
          p.belfiore,
          case when v_section = any (api.pointwise_sections()) then p.point end as point,
          p.kind
        from unnest(v_fids, v_belfiori, v_points, v_kinds) as p (fid, belfiore, point, kind)
      ),
      described as materialized (
        select
          c.fid,
          c.linked,
          c.found,
          c.cells
        from api.section_columns(v_section, v_asked, p_from) c
      ),
      row_of as materialized (
        select
          p.fid,
          p.belfiore,
          p.point,
          p.kind,
          d.linked,
          coalesce(d.found, false) as found,
          d.cells,
          dense_rank() over (order by core.region_of(p.fid), p.belfiore, p.point, p.kind, d.linked, coalesce(d.found, false)) as likeness
        from asked p
        left join described d on d.fid = p.fid
      ),
      -- Computes the coverage once for all parcels with equal arguments of api.section_coverage.
      covered as materialized (
        select
          k.likeness,
          api.section_coverage(core.region_of(k.fid), k.belfiore, k.point, k.kind, v_section, k.linked, k.found, p_from) as coverage
        from (select distinct on (r.likeness) r.* from row_of r) k
      )
      select json_agg(json_build_array(r.fid, c.coverage, r.cells))
      into v_rows
      from row_of r
      join covered c on c.likeness = r.likeness;
    else
      select json_agg(json_build_array(c.fid, null, c.cells))
      into v_rows
      from api.section_columns(v_section, v_asked, p_from) c;
    end if;
    answer := concat(answer || ',', to_json(v_section), ':', coalesce(v_rows, '[]'));
  end loop;
  answer := concat('{', answer, '}');
end
$$;
comment on function api.columns_of(int4[], text[], anyelement) is 'JSON object with one member per section, an array of [fid, coverage, cells] of the given parcels that exist. Element cells has the values of the section''s columns, in the order that the section defines (null: no values). Element coverage is the same as in a record, null if the cells contain the coverage. Argument p_sections must contain names of sections';

create or replace function api.parcel_columns(p_fids int4[], p_sections text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := api.columns_of(p_fids, p_sections, null::core.parcel);
end
$$;
comment on function api.parcel_columns(int4[], text[]) is 'The result of api.columns_of for published parcels';

create or replace function api.column_licenses(p_region int4, p_sections text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    select coalesce(json_agg(x.cited order by x.unit_code, x.nth), '[]'::json)
    from (
      select distinct on (l.cited::text)
        l.cited,
        u.unit_code,
        l.nth
      from ledger.publication u
      cross join lateral json_array_elements(api.licenses(u.unit_code, p_sections)) with ordinality as l (cited, nth)
      where u.state = 'current'
        and u.unit_code > 0
        and (p_region is null or u.unit_code = p_region)
      order by l.cited::text, u.unit_code
    ) x
  );
end
$$;
comment on function api.column_licenses(int4, text[]) is 'Attributions of sections in a region (null: in all published regions), as in api.licenses, without repetitions';
