-- purpose: metrics of the published regions, their files, and the last refresh
-- reads: ledger.added_column, ledger.file, ledger.hold, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.release, ledger.run
-- writes: api.published_state
-- grain: one call per response
-- crs: none

create or replace function api.published_state(out state jsonb)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select jsonb_build_object(
    'regions', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'code', p.unit_code,
        'published', extract(epoch from p.published_at)::int8,
        'age', extract(epoch from now() - p.published_at)::int8,
        'parcels', coalesce(t.rows, 0)
      ) order by p.unit_code), '[]'::jsonb)
      from ledger.publication p
      left join ledger.publication_table t
        on t.publication_id = p.publication_id
        and t.relation = 'core.parcel'
      where p.state = 'current'
        and p.unit_code > 0
    ),
    'sources', (
      select coalesce(jsonb_agg(jsonb_build_object('id', s.source_id, 'records', s.records, 'rejects', s.rejects) order by s.source_id), '[]'::jsonb)
      from (
        select
          r.source_id,
          sum(r.records)::int8 as records,
          sum(r.rejects)::int8 as rejects
        from ledger.release r
        where r.state = 'loaded'
        group by r.source_id
      ) s
    ),
    'warnings', (
      select coalesce(jsonb_agg(jsonb_build_object('source', w.source_id, 'region', w.unit_code, 'columns', w.columns, 'cutExports', w.cut_exports) order by w.source_id, w.unit_code), '[]'::jsonb)
      from (
        select
          r.source_id,
          p.unit_code,
          sum(n.columns)::int8 as columns,
          sum(n.cut_exports)::int8 as cut_exports
        from (
          select
            m.file_id,
            count(distinct a.name) as columns,
            0 as cut_exports
          from ledger.added_column a
          join ledger.member m using (member_id)
          group by m.file_id
          union all
          select
            d.file_id,
            0,
            1
          from ledger.file d
          where d.may_be_cut
        ) n
        join ledger.file f using (file_id)
        join ledger.release r using (release_id)
        join ledger.publication_file c using (file_id)
        join ledger.publication p using (publication_id)
        where p.state = 'current'
          and exists (
            select
            from ledger.publication_table t
            cross join jsonb_object_keys(t.inputs) i (input)
            where t.publication_id = p.publication_id
              and split_part(i.input, ' ', 1) = r.source_id
          )
        group by r.source_id, p.unit_code
      ) w
    ),
    'refreshed', (
      select jsonb_build_object('exitCode', r.exit_code, 'ended', extract(epoch from r.ended_at)::int8)
      from ledger.run r
      where r.command in ('refresh', 'load-region', 'watch')
        and r.exit_code is not null
      order by r.run_id desc
      limit 1
    ),
    -- A region's last success is its last publication, or the end of a later successful run that checked the region. A run with exit code 3 is successful,
    -- because it left out an optional file but withheld no region.
    'succeeded', (
      select coalesce(jsonb_agg(jsonb_build_object('region', p.unit_code, 'ended', extract(epoch from greatest(p.published_at, l.ended_at))::int8) order by p.unit_code), '[]'::jsonb)
      from ledger.publication p
      left join lateral (
        select max(r.ended_at) as ended_at
        from ledger.run r
        where r.exit_code in (0, 3)
          and r.report -> 'regions' @> to_jsonb(p.unit_code)
      ) l on true
      where p.state = 'current'
        and p.unit_code > 0
    ),
    'failures', (
      select coalesce(jsonb_agg(distinct jsonb_build_object('region', f ->> 'region', 'source', f ->> 'source', 'exitCode', (f ->> 'exit_code')::int4)), '[]'::jsonb)
      from (
        select r.report
        from ledger.run r
        where jsonb_typeof(r.report -> 'failures') = 'array'
        order by r.run_id desc
        limit 1
      ) last
      cross join lateral jsonb_array_elements(last.report -> 'failures') f (f)
    ),
    'refusals', (
      select coalesce(jsonb_agg(jsonb_build_object('region', g.region, 'section', g.section, 'count', g.refusals) order by g.region, g.section), '[]'::jsonb)
      from (
        select
          f ->> 'region' as region,
          s.section,
          count(*) as refusals
        from ledger.run r
        cross join lateral jsonb_array_elements(r.report -> 'failures') f (f)
        cross join lateral jsonb_array_elements_text(f -> 'sections') s (section)
        where jsonb_typeof(r.report -> 'failures') = 'array'
          and f ->> 'error' = 'SUSPICIOUS'
        group by
          f ->> 'region',
          s.section
      ) g
    ),
    'held', (
      select coalesce(jsonb_agg(h.unit_code order by h.unit_code), '[]'::jsonb)
      from ledger.hold h
    ),
    'databaseBytes', pg_database_size(current_database()),
    'previousBytes', (
      select coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8
      from pg_class c
      where c.relnamespace = 'previous'::regnamespace
        and c.relkind = 'r'
    )
  )
$$;
comment on function api.published_state() is 'Metrics for Prometheus, with times in seconds since 1970. For each published region: time of publication, age in seconds and number of parcels. For each source: records and rejects of the loaded releases. For each source and region (0: Italy), in the files of current publications: number of columns that publishers added, and number of exports that may be incomplete. For the last refresh: exit code and end (null: no refresh). The result also has the last success by region, failures of the last run by region and source, refusals of the quality gate, regions with a hold (pinned, rolled back or withdrawn), and bytes of the database and of previous publications';
