-- purpose: what is in force: publications, their tables and files, and whom they cite
-- reads: ledger.attribution, ledger.publication, ledger.publication_table
-- writes: ledger.attribution, ledger.publication, ledger.publication_file, ledger.publication_table
-- grain: one row per publication, or per table, file or source of it
-- crs: none

-- statement: open
insert into ledger.publication (unit_code, run_id, state, reason, accepted)
values ($1, $2, 'current', $3, $4::jsonb || jsonb_build_object('at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))
returning publication_id as id

-- statement: states
select
  publication_id as id,
  state
from ledger.publication
where unit_code = $1
  and state in ('current', 'previous')

-- statement: move
update ledger.publication
set state = $3
where unit_code = $1
  and state = $2

-- statement: add_table
insert into ledger.publication_table (publication_id, relation, partition, fingerprint, inputs, rows, digest)
values ($1, $2, $3, $4, $5, $6, $7)

-- statement: add_files
insert into ledger.publication_file (publication_id, file_id)
select
  $1,
  unnest($2::int4[])

-- statement: cite
insert into ledger.attribution (publication_id, section, source_id, source, holder, license, url, reference_period, attribution)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- statement: note_content
-- What tells this publication from every other one, as caches of answers need it; and what its sections were made from, as records show it.
update ledger.publication
set digest = (
  select md5(coalesce(string_agg(l.line, chr(10) order by l.line collate "C"), ''))
  from (
    select concat_ws(' ', t.relation, t.digest) as line
    from ledger.publication_table t
    where t.publication_id = $1
    union all
    select concat_ws(' ', a.section, a.source_id, a.source, a.holder, a.license, a.url, a.reference_period, a.attribution)
    from ledger.attribution a
    where a.publication_id = $1
  ) l
),
sources = (
  select coalesce(jsonb_object_agg(s.section, s.shown), '{}')
  from (
    select
      a.section,
      string_agg(a.source || case when a.reference_period = '' then '' else ' (' || a.reference_period || ')' end, '; ' order by a.source_id collate "C") as shown
    from ledger.attribution a
    where a.publication_id = $1
    group by a.section
  ) s
)
where publication_id = $1

-- statement: holders
-- Whoever has what is published open, the longest first. What others ask is not shown: it may name people.
select
  a.pid,
  coalesce(a.application_name, '') as program,
  coalesce(a.usename::text, '') as "user",
  host(a.client_addr) as address,
  to_char(a.xact_start at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
  format('select pg_terminate_backend(%s)', a.pid) as ending
from pg_stat_activity a
where a.datname = current_database()
  and a.pid <> pg_backend_pid()
  and exists (
    select
    from pg_locks l
    join pg_class c on c.oid = l.relation
    where l.pid = a.pid
      and l.granted
      and l.locktype = 'relation'
      and (c.relnamespace in ('core'::regnamespace, 'section'::regnamespace) or c.oid = 'ledger.publication_lock'::regclass)
  )
order by a.xact_start nulls last, a.pid
