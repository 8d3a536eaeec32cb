-- purpose: the quality report of a comune: coverage, files, metrics compared with the province, rejects and address findings
-- reads: core.comune, core.comune_catastale, core.comune_found, core.comune_register, core.parcel, core.region, ledger.figure, ledger.file, ledger.file_place, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.reject, ledger.release
-- writes: api.quality_place, api.quality_parcels, api.quality_answers, api.quality_rows, api.quality_coverage, api.quality_files, api.quality_figures, api.quality_rejects, api.municipality_quality
-- grain: one call per comune
-- crs: EPSG:4326

create or replace function api.quality_place(p_code text, out region int4, out belfiore text, out istat_code text, out province_code text, out names text[])
language plpgsql stable as $$
declare
  v_code constant text := core.upper_case(p_code);
begin
  select
    c.region_code,
    c.belfiore,
    c.istat_code,
    c.province_code,
    -- Files without codes name a comune by its name and its province or car plate code.
    array[c.belfiore, c.istat_code, concat_ws(' ', c.sigla, core.comune_key(c.name)), concat_ws(' ', core.upper_case(c.province_name), core.comune_key(c.name))]
  into region, belfiore, istat_code, province_code, names
  from core.comune c
  -- Also matches the comune's earlier codes, and codes of comuni that merged into this comune. The code of a comune that was divided among several comuni matches
  -- none of these comuni.
  where c.belfiore = v_code
    or c.istat_code = p_code
    or c.istat_code in (select r.istat_code from core.comune_register r where r.old_istat_code = p_code and not r.divided)
  order by c.istat_code = p_code desc, c.region_code
  limit 1;
  if belfiore is null then
    -- Files name a comune that is not in the ISTAT list by its cadastral code.
    select
      f.region_code,
      f.belfiore,
      '',
      array[f.belfiore]
    into region, belfiore, province_code, names
    from core.comune_found f
    where f.belfiore = v_code
    order by f.region_code
    limit 1;
  end if;
end
$$;
comment on function api.quality_place(text) is 'Region, codes, and names in files (ledger.file_place) of the comune with a cadastral or ISTAT code. All results are null if no comune has the code.';

create or replace function api.quality_parcels(p_belfiore text) returns int4[]
language plpgsql stable as $$
declare
  v_stretch text;
  v_found int4[] := '{}';
  v_more int4[];
begin
  -- References have an index, and begin with the code of the comune or, in land registers, of the comune catastale.
  for v_stretch in
    select p_belfiore
    union all
    select t.prefix || '.'
    from core.comune_catastale t
    where t.belfiore = p_belfiore
  loop
    -- Selects the outermost parcels on eight sides, and four parcels chosen by a hash. A map that covers only a part of the comune is most likely to lack the
    -- outermost parcels. In the arrays, the first number is the sort value and the second is the fid. The query is materialized, because no node of a
    -- distributed database can merge arrays of other nodes.
    with drawn as materialized (
      select
        p.fid,
        p.point
      from core.parcel p
      where p.reference > v_stretch
        and p.reference < v_stretch || 'zzzz'
        and starts_with(p.reference, v_stretch)
        and p.kind = 'land'
    )
    select array[
      (min(array[st_x(p.point), p.fid]))[2], (max(array[st_x(p.point), p.fid]))[2],
      (min(array[st_y(p.point), p.fid]))[2], (max(array[st_y(p.point), p.fid]))[2],
      (min(array[st_x(p.point) + st_y(p.point), p.fid]))[2], (max(array[st_x(p.point) + st_y(p.point), p.fid]))[2],
      (min(array[st_x(p.point) - st_y(p.point), p.fid]))[2], (max(array[st_x(p.point) - st_y(p.point), p.fid]))[2],
      (min(array[hashint4extended(p.fid, 1)::float8, p.fid]))[2], (min(array[hashint4extended(p.fid, 2)::float8, p.fid]))[2],
      (min(array[hashint4extended(p.fid, 3)::float8, p.fid]))[2], (min(array[hashint4extended(p.fid, 4)::float8, p.fid]))[2]
    ]::int4[]
    into v_more
    from drawn p;
    v_found := v_found || v_more;
  end loop;
  return array(
    select distinct f.fid
    from unnest(v_found) as f (fid)
    where f.fid is not null
    order by f.fid
  );
end
$$;
comment on function api.quality_parcels(text) is 'Fids of at most 12 sample land parcels of a comune (in a land register, of each comune catastale). The coverage of the samples represents the comune. The samples are the outermost parcels on eight sides, and four parcels that a hash selects. Equal data gives equal samples';

create or replace function api.quality_answers(p_fids int4[])
returns table (section text, part text, answers jsonb)
language plpgsql volatile as $$
declare
  v_sections constant text[] := array(select s.name from api.known_sections() as s (name));
  v_fid int4;
  v_record json;
  v_all jsonb := '[]';
begin
  foreach v_fid in array p_fids loop
    v_record := (select (r.head || '[]' || api.record_end(null))::json from api.region_record(v_fid, v_sections) r);
    v_all := v_all || (
      select jsonb_agg(jsonb_build_array(w.section, w.part, w.answer))
      from (
        select
          c.key as section,
          '' as part,
          c.value as answer
        from json_each_text(v_record #> '{meta,coverage}') c
        union all
        -- Adds the sections whose block contains a coverage for each map. For these sections, meta.coverage has no member.
        select
          s.name,
          c.key,
          c.value
        from unnest(v_sections) as s (name)
        cross join lateral json_each_text(
          case when json_typeof(v_record #> array[s.name, 'coverage']) = 'object' then v_record #> array[s.name, 'coverage'] else '{"": "not_loaded"}' end
        ) c
        where not s.name = any (api.covered_sections())
      ) w
    );
  end loop;
  return query
  select
    n.section,
    n.part,
    jsonb_object_agg(n.answer, n.parcels)
  from (
    select
      a.value ->> 0 as section,
      a.value ->> 1 as part,
      a.value ->> 2 as answer,
      count(*) as parcels
    from jsonb_array_elements(v_all) a
    group by 1, 2, 3
  ) n
  group by n.section, n.part;
end
$$;
comment on function api.quality_answers(int4[]) is 'Numbers of parcels by coverage (mapped, partial, not_mapped, not_loaded, not_applicable) in the records of the given parcels. Parcels are counted for each section. If the block of a section contains a coverage for each map, parcels are counted for each map (column part)';

create or replace function api.quality_rows(p_region int4, p_belfiore text, p_section text, p_part text) returns int8
language plpgsql stable as $$
declare
  v_table ledger.publication_table;
begin
  select t.*
  into v_table
  from ledger.publication p
  join ledger.publication_table t using (publication_id)
  where p.unit_code = p_region
    and p.state = 'current'
    and t.relation = case p_section when 'basic' then 'core.parcel' else 'section.' || p_section end;
  return (
    select case
      when v_table.rows > 0 and not exists (
        select
        from ledger.figure f
        where f.relation = v_table.relation
          and f.partition = v_table.partition
      ) then null
      when v_table.relation is not null then coalesce(sum(r.rows), 0)::int8
    end
    from (
      select
        case
          when p_part = '' then f.rows
          -- The names of the columns of a map begin with the name of the map. The columns with the suffixes _mapped and _partial state the coverage of the map,
          -- and have no values of the map.
          else (
            select max((x.value ->> 'values')::int8)
            from jsonb_each(f.fields) x
            where starts_with(x.key, p_part || '_')
              and x.key not in (p_part || '_mapped', p_part || '_partial')
          )
        end as rows
      from ledger.figure f
      where f.relation = v_table.relation
        and f.partition = v_table.partition
        and f.comune = p_belfiore
    ) r
  );
end
$$;
comment on function api.quality_rows(int4, text, text, text) is 'Number of rows of a section in a comune, or of values of one map of the section, as counted by the quality gate. Null if the gate did not count them, or if the section is not published';

create or replace function api.quality_coverage(p_region int4, p_belfiore text) returns json
language plpgsql volatile as $$
declare
  v_fids constant int4[] := api.quality_parcels(p_belfiore);
begin
  return json_build_object(
    'parcels_asked', cardinality(v_fids),
    'sections', (
      select coalesce(
        json_agg(
          json_build_object(
            'section', c.section,
            'map', nullif(c.part, ''),
            'state', case
              when c.asked = 0 then 'not_applicable'
              when c.mapped = c.asked and c.rows = 0 then 'none'
              when c.mapped = c.asked then 'mapped'
              when c.mapped + c.partly > 0 then 'partial'
              when c.not_loaded = c.asked then 'not_loaded'
              else 'not_mapped'
            end,
            'rows', c.rows,
            'answers', c.answers
          )
          order by array_position(c.known, c.section), c.part collate "C"
        ),
        '[]'::json
      )
      from (
        select
          a.section,
          a.part,
          a.answers,
          -- Parcels to which the section does not apply do not count for the coverage of the comune.
          cardinality(v_fids) - coalesce((a.answers ->> 'not_applicable')::int4, 0) as asked,
          coalesce((a.answers ->> 'mapped')::int4, 0) as mapped,
          coalesce((a.answers ->> 'partial')::int4, 0) as partly,
          coalesce((a.answers ->> 'not_loaded')::int4, 0) as not_loaded,
          api.quality_rows(p_region, p_belfiore, a.section, a.part) as rows,
          array(select s.name from api.known_sections() as s (name)) as known
        from api.quality_answers(v_fids) a
      ) c
    )
  );
end
$$;
comment on function api.quality_coverage(int4, text) is 'Coverage of a comune, with a state for each section, or for each map of a section that reports coverage by map. State mapped: the files cover the comune. State none: the files cover the comune and have no feature in the comune. State partial: the files cover only a part of the comune, or only some of the maps cover the comune. State not_mapped: the loaded files do not cover the comune. State not_loaded: no file is loaded. State not_applicable: the section applies to none of the sample parcels. The states come from the records of the parcels that api.quality_parcels selects. The numbers of rows come from the quality gate';

create or replace function api.quality_files(p_region int4, p_names text[]) returns json
language plpgsql stable as $$
begin
  return (
    select coalesce(
      json_agg(
        json_build_object(
          'source', s.source_id, 'file', s.name, 'vintage', s.vintage, 'dated', s.dated, 'layers', s.layers, 'names_comune', s.is_named
        )
        order by s.source_id collate "C", s.vintage collate "C" desc, s.name collate "C", s.file_id
      ),
      '[]'::json
    )
    from (
      select
        r.source_id,
        f.file_id,
        f.name,
        f.vintage,
        f.dated,
        array_agg(distinct p.layer order by p.layer) as layers,
        bool_or(p.places && p_names) as is_named
      from ledger.publication u
      join ledger.publication_file c using (publication_id)
      join ledger.file f using (file_id)
      join ledger.release r using (release_id)
      join ledger.file_place p using (file_id)
      where u.unit_code in (0, p_region)
        and u.state = 'current'
        -- A file that does not distinguish comuni is listed for every comune.
        and (p.places && p_names or p.places = '{""}')
      group by r.source_id, f.file_id
    ) s
  );
end
$$;
comment on function api.quality_files(int4, text[]) is 'Current files of a region and of Italy that name a comune (names_comune), or do not distinguish comuni. If a layer has several files, the newest file that names the comune is used';

create or replace function api.quality_figures(p_region int4, p_belfiore text, p_istat text, p_province text) returns json
language plpgsql stable as $$
begin
  return (
    select coalesce(
      json_agg(
        json_build_object(
          'table', f.relation,
          'slice', nullif(f.slice, ''),
          'rows', f.rows,
          'rows_province', g.rows,
          'fields', (
            select coalesce(
              json_object_agg(
                x.key,
                json_build_object(
                  'values', x.value -> 'values',
                  'median', x.value -> 'median',
                  'p95', x.value -> 'p95',
                  'values_province', g.fields #> array[x.key, 'values'],
                  'median_province', g.fields #> array[x.key, 'median'],
                  'p95_province', g.fields #> array[x.key, 'p95']
                )
                order by x.key collate "C"
              ),
              '{}'::json
            )
            from jsonb_each(f.fields) x
          )
        )
        order by f.relation collate "C", f.slice collate "C"
      ),
      '[]'::json
    )
    from ledger.publication u
    join ledger.publication_table t using (publication_id)
    join ledger.figure f using (relation, partition)
    left join ledger.figure g
      on g.relation = f.relation
      and g.partition = f.partition
      and g.slice = f.slice
      and g.province = f.province
      and g.comune = ''
    where u.unit_code = p_region
      and u.state = 'current'
      and f.comune in (p_belfiore, p_istat)
      and f.province = p_province
  );
end
$$;
comment on function api.quality_figures(int4, text, text, text) is 'Metrics of the quality gate for a comune in each published table of its region, compared with the province. Metrics are the number of rows, and for each field the number of values (not null, or true), the median and the 95th percentile';

create or replace function api.quality_rejects(p_region int4, p_belfiore text, p_istat text) returns json
language plpgsql stable as $$
declare
  v_word constant text := '(^|[^[:alnum:]])(' || concat_ws('|', p_belfiore, p_istat) || ')([^[:alnum:]]|$)';
begin
  return (
    with found as (
      select
        r.source_id,
        x.code,
        f.name as file,
        m.path as member,
        x.position,
        x.message,
        row_number() over (partition by r.source_id, x.code order by f.name collate "C", m.path collate "C", x.position, x.reject_id) as nth
      from ledger.publication u
      join ledger.publication_file c using (publication_id)
      join ledger.file f using (file_id)
      join ledger.release r using (release_id)
      join ledger.member m using (file_id)
      join ledger.reject x using (member_id)
      where u.unit_code in (0, p_region)
        and u.state = 'current'
        -- Bytes may be in any encoding. Bytes outside ASCII are escaped as octal codes, so the pattern never reads invalid text.
        and (m.path ~ v_word or f.name ~ v_word or encode(x.raw, 'escape') ~ v_word)
    )
    select coalesce(
      json_agg(json_build_object('source', t.source_id, 'code', t.code, 'records', t.records, 'examples', t.examples) order by t.source_id collate "C", t.code collate "C"),
      '[]'::json
    )
    from (
      select
        source_id,
        code,
        count(*) as records,
        json_agg(json_build_object('file', file, 'member', nullif(member, ''), 'position', position, 'message', message) order by nth) filter (where nth <= 3) as examples
      from found
      group by source_id, code
    ) t
  );
end
$$;
comment on function api.quality_rejects(int4, text, text) is 'Rejects whose file name, member name or bytes contain a code of the comune, by source and reason, with at most three examples. Other rejects cannot be assigned to a comune';

create or replace function api.municipality_quality(p_code text, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_place record;
begin
  perform api.hold_publication();
  v_place := api.quality_place(p_code);
  publication := concat_ws(
    '-',
    api.publication_tag(v_place.region),
    -- The tag includes the address files, because the report compares the current file with earlier files, which pruning deletes.
    (
      select string_agg(f.file_id::text, '.' order by f.file_id)
      from api.address_files(v_place.region, array[v_place.belfiore]) f
    )
  );
  if v_place.belfiore is null then
    return;
  end if;
  select json_build_object(
    'municipality', api.known_municipality(v_place.belfiore, null::core.parcel),
    'istat_code', v_place.istat_code,
    'region_code', v_place.region,
    'published_at', to_char(u.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'coverage', api.quality_coverage(v_place.region, v_place.belfiore),
    'files', api.quality_files(v_place.region, v_place.names),
    'figures', api.quality_figures(v_place.region, v_place.belfiore, v_place.istat_code, v_place.province_code),
    'rejects', api.quality_rejects(v_place.region, v_place.belfiore, v_place.istat_code),
    -- With more than 100,000 addresses, the findings would exceed the time limit of the server.
    'address_register', (select q.answer from api.address_quality(v_place.region, array[v_place.belfiore], 100000) q),
    'meta', json_build_object(
      'licenses', api.licenses(v_place.region, array(select s.name from api.known_sections() as s (name))),
      'attribution_required', true
    )
  )::text
  into answer
  from ledger.publication u
  where u.unit_code = v_place.region
    and u.state = 'current';
end
$$;
comment on function api.municipality_quality(text) is 'The quality report of a comune, by its cadastral or ISTAT code. Result answer is null if the comune does not exist or its region is not published.';
