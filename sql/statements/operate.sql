-- purpose: statements that commands for operators run on the ledger
-- reads: core.parcel, ledger.built, ledger.file, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.reject, ledger.release, ledger.run, ledger.step, ledger.swap
-- writes: ledger.built, ledger.figure, ledger.file, ledger.publication, ledger.release, ledger.run, ledger.step
-- grain: one row per result
-- crs: none

-- statement: refused
select
  x.release_id as release,
  r.source_id as source,
  r.vintage,
  r.region_code::int4 as region,
  f.role,
  x.step,
  x.code,
  m.before,
  m.after,
  x.raw
from ledger.reject x
join ledger.release r using (release_id)
join ledger.member m using (member_id)
join ledger.file f on f.file_id = m.file_id
where ($1::text is null or r.source_id = $1)
  and ($2::text is null or x.code = $2)
order by x.reject_id

-- statement: evidence
-- Reads the table that an explanation created. A row names the member from which it was first read. The result names the current member with the same bytes,
-- and the file that contains this member.
select
  e.fid,
  e.field,
  e.value,
  e.rule,
  e.measure,
  e.unit,
  r.source_id as source,
  r.vintage,
  r.release_id as release,
  f.path as file,
  f.sha256,
  m.path as member,
  e.position
from evidence e
left join current_member i on i.member_id = e.member_id
join ledger.member m on m.member_id = coalesce(i.current_member_id, e.member_id)
join ledger.file f on f.file_id = m.file_id
join ledger.release r on r.release_id = f.release_id
where e.fid = any ($1::int4[])
order by e.fid, e.field, e.measure desc nulls last, e.release_id, e.member_id, e.position, e.value collate "C"

-- statement: files_called
select
  f.file_id as "fileId",
  f.name,
  r.source_id as source,
  f.vintage,
  f.sha256,
  f.path = $1 as "isPath",
  f.forgotten_at::text as "forgottenAt",
  f.forgotten_reason as "forgottenReason"
from ledger.file f
join ledger.release r using (release_id)
where r.state = 'loaded'
  and (f.path = $1 or f.name = $2 or (length($3) >= 8 and starts_with(f.sha256, $3)))
order by f.file_id

-- statement: unread
-- Counts by region the parcels that have no value in a section, because a raster was missing when the parcels were built.
select
  core.region_of(fid)::int4 as unit,
  count(*)::int4 as parcels
from :"table"
where unread
group by 1
order by 1

-- statement: some_land_parcels
select fid
from core.parcel
where fid >= $1
  and fid < $2
  and kind = 'land'
order by fid
limit $3

-- statement: not_loaded
-- Lists the sections with the coverage not_loaded in all records of the given parcels. A section with a separate coverage for each map is listed if none of its
-- maps is loaded.
with record as (
  select api.parcel(fid, $2::text[]) as content
  from unnest($1::int4[]) as p (fid)
),
answer as (
  select
    s.section,
    c.coverage
  from record r
  cross join unnest($2::text[]) as s (section)
  cross join lateral (
    select r.content #>> array['meta', 'coverage', s.section] as coverage
    union all
    select e.value
    from json_each_text(
      case when json_typeof(r.content #> array[s.section, 'coverage']) = 'object' then r.content #> array[s.section, 'coverage'] else '{}' end
    ) e
  ) c
  where c.coverage is not null
)
select section
from answer
group by section
having bool_and(coverage = 'not_loaded')

-- statement: left_out
-- Lists by region the files that the last completed run for the region left out.
select distinct on (u.region)
  u.region::int4 as region,
  r.report -> 'left_out' as "leftOut"
from ledger.run r
cross join lateral jsonb_array_elements_text(r.report -> 'regions') as u (region)
where r.outcome = 'done'
order by u.region, r.run_id desc

-- statement: kept_partitions
-- Lists the partitions to keep, including the rows and fids with which a rollback restores a patched table.
select distinct n.name as partition
from ledger.publication_table t
join ledger.publication p using (publication_id)
cross join lateral (
  values
    (t.partition),
    (t.held_in),
    (t.partition || '_rows'),
    (t.partition || '_fids')
) n (name)
where p.state in ('current', 'previous')
  and n.name is not null

-- statement: cited_releases
-- Lists the releases that current and previous publications cite, because the provenance of their data must stay readable.
select distinct f.release_id as id
from ledger.publication_file c
join ledger.publication p using (publication_id)
join ledger.file f using (file_id)
where p.state in ('current', 'previous')

-- statement: forget_publications
-- Deletes past publications to which no swap refers, with their attributions. Other past publications keep their attributions, because history keeps their
-- data.
delete from ledger.publication p
where p.state = 'past'
  and not exists (
    select
    from ledger.swap s
    where s.publication_id = p.publication_id
  )

-- statement: old_runs
select r.run_id
from ledger.run r
where r.ended_at < now() - make_interval(months => $1::int4)
  and not exists (
    select
    from ledger.publication p
    where p.run_id = r.run_id
  )

-- statement: forget_runs
with old as (
  select r.run_id
  from ledger.run r
  where r.ended_at < now() - make_interval(months => $1::int4)
    and not exists (
      select
      from ledger.publication p
      where p.run_id = r.run_id
    )
),
step as (
  delete from ledger.step s
  using old
  where s.run_id = old.run_id
)
delete from ledger.run r
using old
where r.run_id = old.run_id
returning r.run_id

-- statement: forget_figures
delete from ledger.figure f
where not exists (
  select
  from ledger.publication_table t
  join ledger.publication p using (publication_id)
  where t.relation = f.relation
    and t.partition = f.partition
    and p.state in ('current', 'previous')
)

-- statement: last_run
-- Returns the last run, with the `--data` folders of the last run that had `--data`.
select
  r.run_id as id,
  r.command,
  r.arguments,
  r.exit_code::int4 as code,
  r.ended_at is not null as ended,
  (
    select d.arguments -> 'data'
    from ledger.run d
    where jsonb_typeof(d.arguments -> 'data') = 'array'
    order by d.run_id desc
    limit 1
  ) as data
from ledger.run r
order by r.run_id desc
limit 1

-- statement: last_runs
select
  run_id as run,
  command,
  to_char(started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as started_at,
  outcome,
  exit_code::int4 as exit_code
from ledger.run
order by run_id desc
limit 5

-- statement: published_parcels
select
  p.unit_code::int4 as region,
  coalesce(t.rows, 0)::int4 as parcels,
  (now() at time zone 'Europe/Rome')::date - (p.published_at at time zone 'Europe/Rome')::date as days
from ledger.publication p
left join ledger.publication_table t on t.publication_id = p.publication_id
  and t.relation = 'core.parcel'
where p.state = 'current'
  and p.unit_code > 0
order by p.unit_code

-- statement: published_tables
select
  p.unit_code::int4 as unit,
  p.publication_id as publication,
  to_char(p.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at,
  p.reason,
  p.accepted,
  (
    select jsonb_object_agg(t.relation, t.rows)
    from ledger.publication_table t
    where t.publication_id = p.publication_id
  ) as tables,
  array(
    select distinct split_part(i, ' ', 1)
    from ledger.publication_table t, jsonb_object_keys(t.inputs) i
    where t.publication_id = p.publication_id
  ) as sources
from ledger.publication p
where p.state = 'current'
order by p.unit_code

-- statement: releases
select
  source_id as source,
  vintage,
  region_code::int4 as region,
  state,
  records,
  rows,
  rejects,
  duplicates
from ledger.release
order by source_id, vintage, release_id

-- statement: first_land_parcel
select min(fid) as fid
from core.parcel
where kind = 'land'

-- statement: fullest_record
-- Returns the record with the most non-empty sections among the records of the given parcels.
with looked_at as (
  select
    p.fid,
    api.parcel(p.fid, $2) as record
  from unnest($1::int4[]) as p (fid)
)
select l.record
from looked_at l
order by (
  select count(*)
  from json_each(l.record) block
  where block.value::text not in ('null', '[]')
) desc, l.fid
limit 1

-- statement: reject_counts
select
  r.source_id as source,
  r.vintage,
  x.code,
  count(*) as records
from ledger.reject x
join ledger.release r using (release_id)
where ($1::text is null or r.source_id = $1)
  and ($2::text is null or x.code = $2)
group by 1, 2, 3
order by 1, 2, 3

-- statement: rejects
select
  f.path as file,
  m.path as member,
  x.position,
  x.code,
  x.message,
  x.raw
from ledger.reject x
join ledger.release r using (release_id)
join ledger.member m using (member_id)
join ledger.file f on f.file_id = m.file_id
where ($1::text is null or r.source_id = $1)
  and ($2::text is null or x.code = $2)
order by x.reject_id
limit $3

-- statement: mark_forgotten
update ledger.file
set
  forgotten_at = coalesce($3::timestamptz, now()),
  forgotten_reason = $2
where file_id = any ($1::int4[])

-- statement: unmark_forgotten
update ledger.file
set
  forgotten_at = null,
  forgotten_reason = null
where file_id = any ($1::int4[])

-- statement: forget_release
delete from ledger.release
where release_id = $1

-- statement: forget_built
delete from ledger.built

-- statement: read_again
-- Sets a fingerprint that no file can have, so the next run reads the files again. Until then, the release remains in use.
update ledger.release
set
  fingerprint = 'retry ' || release_id,
  reader = 'retry'
where release_id = any ($1::int4[])
