-- purpose: records of runs, releases, files, publications and holds
-- reads: core.access_point, core.comune_found, core.parcel, ledger.added_column, ledger.figure, ledger.file, ledger.file_place, ledger.hold, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.release, ledger.run, ledger.seen_file, ledger.step, ledger.swap, ledger.swap_count, ledger.swap_source
-- writes: ledger.added_column, ledger.figure, ledger.file, ledger.hold, ledger.reject, ledger.release, ledger.run, ledger.seen_file, ledger.step
-- grain: one row per recorded object
-- crs: none

-- statement: releases
select
  release_id as "releaseId",
  source_id as "sourceId",
  vintage,
  region_code::int4 as region,
  fingerprint,
  complete,
  state,
  records,
  rows,
  rejects,
  duplicates,
  layers,
  inputs
from ledger.release
where $1::text is null
  or state = $1
order by release_id

-- statement: add_release
insert into ledger.release (source_id, vintage, region_code, fingerprint, reader, inputs, complete, state)
values ($1, $2, $3, $4, $5, $6, $7, 'staging')
returning release_id as id

-- statement: fail_release
update ledger.release
set
  state = 'failed',
  failure = $2
where state = 'staging'
  and fingerprint = $1
returning release_id as id

-- statement: add_file
insert into ledger.file (release_id, path, name, role, sha256, size, vintage, dated, region_code, complete, place)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
returning file_id as id

-- statement: add_added_columns
insert into ledger.added_column (member_id, ordinal, name, samples)
select
  $1,
  x.ordinal,
  x.name,
  x.samples
from jsonb_to_recordset($2::jsonb) as x (
  ordinal int4,
  name text,
  samples text[]
)

-- statement: schema_warnings
-- Lists the warnings for files of current publications and of the given releases. A file of a publication is ignored if no table of the publication reads the
-- file's source. Each file and new column has one row, even if several members of the file have the column. Each export that may be incomplete has one row.
with used as (
  select
    c.file_id,
    p.unit_code
  from ledger.publication p
  join ledger.publication_file c using (publication_id)
  join ledger.file f using (file_id)
  join ledger.release r using (release_id)
  where p.state = 'current'
    and exists (
      select
      from ledger.publication_table t
      cross join jsonb_object_keys(t.inputs) i (input)
      where t.publication_id = p.publication_id
        and split_part(i.input, ' ', 1) = r.source_id
    )
  union
  select
    f.file_id,
    null
  from ledger.file f
  where f.release_id = any ($1)
),
added as (
  select
    m.file_id,
    a.name,
    a.samples,
    row_number() over (partition by m.file_id, a.name order by a.member_id) as nth
  from ledger.added_column a
  join ledger.member m using (member_id)
),
warning as (
  select
    'COLUMNS_ADDED' as code,
    a.file_id,
    a.name,
    a.samples
  from added a
  where a.nth = 1
  union all
  select
    'EXPORT_MAY_BE_CUT',
    c.file_id,
    null,
    '{}'::text[]
  from ledger.file c
  where c.may_be_cut
)
select
  w.code,
  r.source_id as source,
  r.vintage,
  f.name as file,
  w.name as column,
  w.samples,
  array(
    select distinct u.unit_code::int4
    from used u
    where u.file_id = f.file_id
      and u.unit_code is not null
    order by 1
  ) as units
from warning w
join ledger.file f using (file_id)
join ledger.release r using (release_id)
where f.file_id in (select u.file_id from used u)
order by r.source_id collate "C", f.name collate "C", w.code collate "C", w.name collate "C"

-- statement: loaded_files
select
  f.file_id as "fileId",
  f.release_id as "releaseId",
  r.source_id as "sourceId",
  f.role,
  f.vintage,
  f.dated,
  f.region_code::int4 as region,
  f.complete,
  f.may_be_cut as "mayBeCut",
  f.place,
  f.assigned_region_code::int4 as assigned,
  f.name,
  f.sha256,
  nullif(r.reader, 'retry') as reader,
  f.present,
  coalesce(f.arrived_run, 0) as arrived,
  f.forgotten_at is not null as forgotten,
  coalesce(x.releases, '{}') as "refersTo"
from ledger.file f
join ledger.release r using (release_id)
left join (
  select
    file_id,
    array_agg(distinct row_release_id order by row_release_id) as releases
  from ledger.member
  where row_release_id is not null
  group by file_id
) x using (file_id)
where r.state = 'loaded'
order by f.file_id

-- statement: places_of_files
select
  p.file_id as "fileId",
  p.layer,
  p.series,
  p.region_code::int4 as region,
  p.likely_region_code::int4 as "likelyRegion",
  p.dated,
  p.named,
  p.places
from ledger.file_place p
join ledger.file f using (file_id)
join ledger.release r using (release_id)
where r.state = 'loaded'
order by p.file_id, p.layer, p.series, p.dated, p.places

-- statement: note_absent
update ledger.file
set present = false
where present
  and not file_id = any ($1::int4[])

-- statement: note_present
update ledger.file
set
  present = true,
  arrived_run = $2
where file_id = any ($1::int4[])

-- statement: assign_region
update ledger.file
set assigned_region_code = $2
where file_id = any ($1::int4[])

-- statement: add_rejects
insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
select
  $1,
  member_id,
  step,
  position,
  code,
  message,
  decode(raw, 'hex')
from unnest($2::int4[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[]) as x (member_id, step, position, code, message, raw)

-- statement: figures
select
  f.slice,
  f.province,
  f.comune,
  f.rows,
  f.fields,
  f.identities,
  f.windows
from ledger.figure f
join ledger.publication_table t using (relation, partition)
join ledger.publication p using (publication_id)
where p.unit_code = $1
  and p.state = 'current'
  and relation = $2
order by f.slice, f.province, f.comune

-- statement: add_figures
insert into ledger.figure (relation, partition, slice, province, comune, rows, fields, identities, windows)
select
  $1,
  $2,
  f.slice,
  f.province,
  f.comune,
  f.rows,
  f.fields,
  f.identities,
  nullif(f.windows, 'null'::jsonb)
from jsonb_to_recordset($3::jsonb) as f (slice text, province text, comune text, rows int8, fields jsonb, identities jsonb, windows jsonb)

-- statement: seen_files
select
  path,
  size,
  modified_ms as "modifiedMs",
  changed_us as "changedUs",
  sha256,
  recogniser,
  siblings,
  recognition
from ledger.seen_file

-- statement: note_seen_files
insert into ledger.seen_file (path, size, modified_ms, changed_us, sha256, recogniser, siblings, recognition)
select
  r ->> 'path',
  (r ->> 'size')::int8,
  (r ->> 'modifiedMs')::int8,
  (r ->> 'changedUs')::int8,
  r ->> 'sha256',
  $2,
  r ->> 'siblings',
  nullif(r -> 'recognition', 'null'::jsonb)
from jsonb_array_elements($1::jsonb) as x (r)
on conflict (path) do update
set
  size = excluded.size,
  modified_ms = excluded.modified_ms,
  changed_us = excluded.changed_us,
  sha256 = excluded.sha256,
  recogniser = excluded.recogniser,
  siblings = excluded.siblings,
  recognition = excluded.recognition

-- statement: add_run
insert into ledger.run (command, arguments, version, host, pid)
values ($1, $2, $3, $4, $5)
returning run_id as id

-- statement: end_run
update ledger.run
set
  ended_at = now(),
  outcome = $2,
  exit_code = $3,
  report = $4
where run_id = $1

-- statement: dead_runs
-- Lists the runs that ended without recording their end. An active run holds an advisory lock on its number.
select run_id as id
from ledger.run
where ended_at is null
  and pg_try_advisory_xact_lock(hashtext('mappale run'), run_id)

-- statement: close_dead_runs
update ledger.run
set ended_at = now(),
  outcome = 'interrupted'
where ended_at is null
  and pg_try_advisory_xact_lock(hashtext('mappale run'), run_id)

-- statement: live
select pg_advisory_lock(hashtext('mappale run'), $1)

-- statement: writer
select
  command,
  host,
  pid,
  started_at
from ledger.run
where ended_at is null
order by run_id desc
limit 1

-- statement: add_step
insert into ledger.step (run_id, step, subject)
values ($1, $2, $3)
returning step_id as id

-- statement: end_step
update ledger.step
set
  ended_at = now(),
  detail = $2
where step_id = $1

-- statement: table_seconds
-- Returns the duration of the last build of each table, in this region or else in a different region.
select distinct on (t.relation)
  t.relation,
  t.seconds::float8 as seconds
from ledger.step s
cross join lateral jsonb_each_text(s.detail -> 'seconds') as t (relation, seconds)
where s.step = 'join'
order by
  t.relation,
  s.subject = $1 desc,
  s.step_id desc

-- statement: published_tables
select
  p.unit_code::int4 as region,
  t.relation,
  t.partition,
  coalesce(t.held_in, t.partition) as "heldIn",
  t.fingerprint,
  t.inputs,
  t.rows,
  t.digest
from ledger.publication_table t
join ledger.publication p using (publication_id)
where ($1::int4 is null or p.unit_code = $1)
  and p.state = $2
order by 1

-- statement: published_files
select c.file_id as id
from ledger.publication_file c
join ledger.publication p using (publication_id)
where p.unit_code = $1
  and p.state = 'current'

-- statement: holds
select
  unit_code::int4 as region,
  kind,
  fingerprint,
  reason,
  held_by as "heldBy",
  to_char(held_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "heldAt"
from ledger.hold

-- statement: lock_holds
-- Blocks changes to holds until this transaction ends.
lock table ledger.hold in share mode

-- statement: lock_holds_to_release
-- Blocks changes to holds, but this transaction may release a hold. Two transactions with a share lock would wait for each other.
lock table ledger.hold in share row exclusive mode

-- statement: set_hold
-- A rollback keeps a pin, even if the pin is set during the rollback.
insert into ledger.hold as h (unit_code, kind, fingerprint, reason, held_by)
values ($1, $2, $3, $4, $5)
on conflict (unit_code) do update
set
  kind = excluded.kind,
  fingerprint = excluded.fingerprint,
  reason = excluded.reason,
  held_by = excluded.held_by,
  held_at = now()
where h.kind <> 'pinned'
  or excluded.kind <> 'rolled_back'

-- statement: restore_hold
insert into ledger.hold (unit_code, kind, fingerprint, reason, held_by, held_at)
values ($1, $2, $3, $4, $5, $6::timestamptz)
on conflict (unit_code) do nothing

-- statement: release_hold
delete from ledger.hold
where unit_code = $1
  and ($2::text is null or kind = $2)
returning unit_code

-- statement: found_in_comuni
-- Counts the parcels first, because parcels and other tables may be on different nodes.
with parcels as materialized (
  select
    belfiore,
    count(*) as parcels
  from core.parcel
  where fid >= $3
    and fid < $4
    and belfiore = any ($2::text[])
  group by belfiore
)
select
  c.belfiore as comune,
  f.name,
  coalesce(p.parcels, 0) as parcels,
  (
    select count(*)
    from core.access_point a
    where a.region_code = $1
      and a.belfiore = c.belfiore
  ) as addresses
from unnest($2::text[]) as c (belfiore)
left join parcels p on p.belfiore = c.belfiore
left join core.comune_found f on f.region_code = $1
  and f.belfiore = c.belfiore
order by 1

-- statement: published_parcels
select
  p.unit_code::int4 as region,
  t.rows as parcels
from ledger.publication p
join ledger.publication_table t using (publication_id)
where p.state = 'current'
  and t.relation = 'core.parcel'

-- statement: loading_rates
-- Returns for each source how many bytes of its files are loaded per second, and the bytes of its layers per byte of the files. In the row with the total, the
-- source is empty. A release that reuses members of an earlier release reads only a part of its files. Such releases count only if the source has no other
-- releases.
with layer as (
  select
    substring(c.relname from '_([0-9]+)$')::int4 as release_id,
    sum(pg_total_relation_size(c.oid)) as bytes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'layer'
    and c.relkind = 'r'
    and c.relname ~ '_[0-9]+$'
  group by 1
),
loaded as (
  select
    r.source_id,
    extract(epoch from r.loaded_at - r.created_at)::float8 as seconds,
    coalesce(
      (
        select sum(f.size)
        from ledger.file f
        where f.release_id = r.release_id
      ),
      0
    )::float8 as file_bytes,
    coalesce(l.bytes, 0)::float8 as layer_bytes,
    exists (
      select
      from ledger.member m
      where m.release_id = r.release_id
        and m.taken_from is not null
    ) as reuses
  from ledger.release r
  left join layer l using (release_id)
  where r.state = 'loaded'
    and r.loaded_at > r.created_at
),
measured as (
  select
    *,
    bool_and(reuses) over (partition by source_id) as all_reuse
  from loaded
)
select
  coalesce(source_id, '') as source,
  sum(file_bytes) / greatest(sum(seconds), 1e-3) as "bytesPerSecond",
  sum(layer_bytes) / greatest(sum(file_bytes), 1) as "layerPerByte"
from measured
where reuses = all_reuse
group by rollup (source_id)
having count(*) > 0

-- statement: building_rate
-- Returns the seconds and the bytes per parcel of the first region that was built in this database. The run may also have built Italy and other regions, so
-- only the steps of the region count.
select
  b.seconds / b.parcels as seconds,
  (
    select coalesce(sum(pg_total_relation_size(c.oid)), 0)
    from ledger.publication p
    join ledger.publication_table t using (publication_id)
    join pg_class c on c.relname = coalesce(t.held_in, t.partition)
    join pg_namespace n on n.oid = c.relnamespace
      and n.nspname = split_part(t.relation, '.', 1)
    where p.unit_code = b.unit_code
      and p.state = 'current'
  )::float8 / b.parcels as bytes
from (
  select
    p.unit_code,
    t.rows as parcels,
    (
      select sum(extract(epoch from s.ended_at - s.started_at))::float8
      from ledger.step s
      where s.run_id = p.run_id
        and s.subject = n.name
        and s.step in ('join', 'check', 'guard', 'gate', 'publish')
        and s.ended_at is not null
    ) as seconds
  from ledger.publication p
  join unnest($1::int4[], $2::text[]) as n (code, name) on n.code = p.unit_code
  join ledger.publication_table t using (publication_id)
  where t.relation = 'core.parcel'
    and t.rows > 0
  order by p.publication_id
  limit 1
) b
where b.seconds is not null

-- statement: forget_unfinished
delete from ledger.release
where fingerprint = $1
  and state <> 'loaded'

-- statement: open_runs
select run_id as id
from ledger.run
where ended_at is null

-- statement: uncounted
-- Returns the swaps of the last 30 days without counts or without sources, because the run ended between the swap and the counts. Sources are recorded last.
-- The parcels before and after a publication cannot be compared while the region is withdrawn.
select s.swap_id as swap
from ledger.swap s
where s.happened_at > now() - interval '30 days'
  and case
    when s.publication_id is null then not exists (
      select
      from ledger.swap_count c
      where c.swap_id = s.swap_id
    )
    else not exists (
      select
      from ledger.swap_source r
      where r.swap_id = s.swap_id
    ) and exists (
      select
      from ledger.publication p
      where p.unit_code = s.unit_code
        and p.state = 'current'
    )
  end
order by s.swap_id

-- statement: hold_run
select
from ledger.run
where run_id = $1
  and ended_at is null
for share

-- statement: host_of_run
select host
from ledger.run
where run_id = $1
