-- purpose: publications, their tables and files, and their attributions
-- reads: ledger.attribution, ledger.built, ledger.cited, ledger.publication, ledger.publication_lock, ledger.publication_table
-- writes: ledger.attribution, ledger.built, ledger.citation, ledger.cited, ledger.publication, ledger.publication_file, ledger.publication_table
-- grain: one row per publication, or per table, file or source of a publication
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

-- statement: add_tables
insert into ledger.publication_table (publication_id, relation, partition, held_in, fingerprint, inputs, rows, digest)
select
  $1,
  t.relation,
  t.partition,
  nullif(t."heldIn", t.partition),
  t.fingerprint,
  t.inputs,
  t.rows,
  t.digest
from jsonb_to_recordset($2::jsonb) as t (relation text, partition text, "heldIn" text, fingerprint text, inputs jsonb, rows int8, digest text)

-- statement: add_files
insert into ledger.publication_file (publication_id, file_id)
select
  $1,
  unnest($2::int4[])

-- statement: cite
insert into ledger.attribution (publication_id, section, source_id, source, holder, license, url, reference_period, attribution)
select
  $1,
  c.section,
  c.source_id,
  c.source,
  c.holder,
  c.license,
  c.url,
  c.period,
  c.text
from jsonb_to_recordset($2::jsonb) as c (
  section text,
  source_id text,
  source text,
  holder text,
  license text,
  url text,
  period text,
  text text
)

-- statement: cite_values
-- Stores combinations of sources, and the keys that cite each combination.
with combination as (
  select
    row_number() over () as number,
    c.*
  from jsonb_to_recordset($2::jsonb) as c (section text, keys jsonb, sources jsonb)
),
license as (
  select
    c.number,
    a.source_id,
    a.source || case when x.period = '' then '' else ' (' || x.period || ')' end as shown,
    json_build_object(
      'section', a.section,
      'source', a.source,
      'holder', a.holder,
      'license', a.license,
      'url', a.url,
      'reference_period', nullif(x.period, ''),
      'attribution', a.attribution
    )::text as license,
    a.holder || ' ' || a.license as term
  from combination c
  cross join jsonb_each_text(c.sources) as x (source_id, period)
  join ledger.attribution a on a.publication_id = $1
    and a.section = c.section
    and a.source_id = x.source_id
),
listed as (
  select
    c.number,
    c.section,
    string_agg(l.shown, '; ' order by l.source_id collate "C") as source,
    coalesce(array_agg(l.source_id order by l.source_id collate "C") filter (where l.source_id is not null), '{}') as source_ids,
    coalesce(array_agg(l.license order by l.source_id collate "C") filter (where l.source_id is not null), '{}') as licenses,
    coalesce(array_agg(l.term order by l.source_id collate "C") filter (where l.source_id is not null), '{}') as terms
  from combination c
  left join license l using (number)
  group by c.number, c.section
),
named as (
  select
    md5(section || array_to_string(licenses, ''))::uuid as citation,
    *
  from listed
),
made as (
  insert into ledger.citation (citation, section, source, source_ids, licenses, terms)
  select
    citation,
    section,
    source,
    source_ids,
    licenses,
    terms
  from named
  on conflict (citation) do nothing
)
insert into ledger.cited (publication_id, section, key, citation, source)
select
  $1,
  n.section,
  k.key,
  n.citation,
  coalesce(to_json(n.source)::text, 'null')
from named n
join combination c using (number)
cross join jsonb_array_elements_text(c.keys) as k (key)

-- statement: citations
-- Lists the sources of the given sections in the current publication of a region.
select
  a.section,
  a.source_id as source,
  coalesce(a.reference_period, '') as period
from ledger.attribution a
join ledger.publication p using (publication_id)
where p.unit_code = $1
  and p.state = 'current'
  and a.section = any ($2::text[])
order by a.section, a.source_id

-- statement: facts
-- Returns the rows of the table that an attribution.sql creates.
select *
from fact

-- statement: cited_keys
-- Lists the combinations of sources of the given sections in the current publication of a region, and the keys that cite these combinations.
select
  k.section,
  array_agg(k.key order by k.key collate "C") as keys,
  c.source_ids as sources,
  array(
    select coalesce(l.license::jsonb ->> 'reference_period', '')
    from unnest(c.licenses) with ordinality as l (license, place)
    order by l.place
  ) as periods
from ledger.cited k
join ledger.publication p using (publication_id)
join ledger.citation c using (citation)
where p.unit_code = $1
  and p.state = 'current'
  and k.section = any ($2::text[])
group by k.section, c.citation, c.source_ids, c.licenses
order by k.section, c.citation

-- statement: note_content
-- Stores a digest of the content, attributions and citations of the publication. Response caches use the digest to distinguish publications.
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
    union all
    select concat_ws(' ', c.section, c.key, c.citation)
    from ledger.cited c
    where c.publication_id = $1
  ) l
)
where publication_id = $1

-- statement: holders
-- Lists the sessions that hold locks on published tables, the oldest transaction first. Query texts are left out, because they may contain names of people.
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

-- statement: set_state
update ledger.publication
set state = $2
where publication_id = $1

-- statement: hold_readers
lock table ledger.publication_lock in access exclusive mode

-- statement: built
select
  relation,
  fingerprint
from ledger.built
where unit_code = $1

-- statement: note_built
insert into ledger.built (unit_code, relation, fingerprint)
values ($1, $2, $3)

-- statement: forget_built
delete from ledger.built
where unit_code = $1

-- statement: forget_built_table
delete from ledger.built
where unit_code = $1
  and relation = $2
