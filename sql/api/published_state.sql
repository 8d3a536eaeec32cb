-- purpose: what is published, what was read for it and how the last refresh ended, for metrics
-- reads: ledger.added_column, ledger.file, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.release, ledger.run
-- writes: api.published_state
-- grain: one call per answer
-- crs: none

create or replace function api.published_state(out state jsonb)
language sql stable security definer
set search_path to public, pg_temp
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
      where r.command in ('refresh', 'load-region')
        and r.exit_code is not null
      order by r.run_id desc
      limit 1
    )
  )
$$;
comment on function api.published_state() is 'Regions in force with their moment, age in seconds and parcels; records and rejects of the releases that are loaded, by source; columns that publishers added to files of current publications, and such files that may be cut exports, counted by source and region (0: Italy); exit code and end of the last refresh in the ledger, null: none. Moments in seconds since 1970';
