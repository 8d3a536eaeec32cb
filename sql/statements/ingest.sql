-- purpose: results of reading a release: reused, rejected, duplicate and loaded records, and the comuni in its files
-- reads: ledger.added_column, ledger.duplicate, ledger.file, ledger.file_place, ledger.member, ledger.reject, ledger.release
-- writes: ledger.added_column, ledger.duplicate, ledger.file, ledger.file_place, ledger.member, ledger.reject, ledger.release
-- grain: one row per member of a file
-- crs: none

-- statement: reusable_members
-- Lists the members that the same version of the reader has already read, and whose result does not depend on other members.
select
  m.path,
  m.crc32,
  m.size,
  coalesce(m.row_member_id, m.member_id) as "memberId",
  coalesce(m.row_release_id, m.release_id) as "releaseId",
  coalesce(m.taken_from, m.member_id) as "readAs",
  m.records,
  m.rows,
  m.rejects,
  m.duplicates
from ledger.member m
join ledger.release r using (release_id)
where r.source_id = $1
  and r.region_code is not distinct from $2
  and r.reader = $3
  and r.state = 'loaded'
  and m.crc32 is not null
  and m.alone
order by m.release_id, m.member_id

-- statement: take_members
insert into ledger.member (release_id, file_id, path, crc32, size, region_code, taken_from, row_member_id, row_release_id, records, rows, rejects, duplicates)
select
  $1,
  x.*
from jsonb_to_recordset($2::jsonb) as x (
  file_id int4,
  path text,
  crc32 int8,
  size int8,
  region_code int2,
  taken_from int4,
  row_member_id int4,
  row_release_id int4,
  records int8,
  rows int8,
  rejects int8,
  duplicates int8
)
returning file_id as "fileId", path, member_id as "memberId"

-- statement: take_rejects
insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
select
  $1,
  p.member_id,
  r.step,
  r.position,
  r.code,
  r.message,
  r.raw
from unnest($2::int4[], $3::int4[]) as p (member_id, from_member_id)
join ledger.reject r on r.member_id = p.from_member_id

-- statement: take_duplicates
insert into ledger.duplicate (release_id, member_id, code, records)
select
  $1,
  p.member_id,
  d.code,
  d.records
from unnest($2::int4[], $3::int4[]) as p (member_id, from_member_id)
join ledger.duplicate d on d.member_id = p.from_member_id

-- statement: take_added_columns
insert into ledger.added_column (member_id, ordinal, name, samples)
select
  p.member_id,
  a.ordinal,
  a.name,
  a.samples
from unnest($1::int4[], $2::int4[]) as p (member_id, from_member_id)
join ledger.added_column a on a.member_id = p.from_member_id

-- statement: provide_release
-- Creates the view release for load.sql, with one row. Except for the release and its members, the staged rows are the only input of load.sql, so its result
-- depends only on the bytes of the file.
create view release as
select
  release_id,
  source_id as source,
  vintage,
  region_code
from ledger.release
where release_id = :'release'

-- statement: provide_members
create table member as
select
  coalesce(m.row_member_id, m.member_id) as member_id,
  m.file_id,
  m.path,
  f.name as file_name,
  m.region_code,
  m.taken_from is null as is_read
from ledger.member m
join ledger.file f using (file_id)
where m.release_id = $1
  and ($2 or m.taken_from is null)

-- statement: compared_members
-- True if all reused members of each file were already in one earlier file, and were compared with each other when that file was loaded.
with reused as (
  select
    n.file_id,
    r.from_member_id
  from unnest($1::int4[], $2::int4[]) as r (member_id, from_member_id)
  join ledger.member n using (member_id)
),
file as (
  select
    file_id,
    count(*) as members
  from reused
  group by file_id
)
select
  not exists (
    select
    from file f
    where not exists (
      select
      from reused r
      join ledger.member o on coalesce(o.row_member_id, o.member_id) = r.from_member_id
      where r.file_id = f.file_id
        and o.file_id <> f.file_id
      group by o.file_id
      having count(distinct r.from_member_id) = f.members
    )
  ) as compared

-- statement: note_cut_export
update ledger.file
set may_be_cut = true
where file_id = $1

-- statement: note_rejects
insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
select
  $1,
  member_id,
  'load',
  position,
  code,
  message,
  convert_to(raw, 'UTF8')
from reject

-- statement: note_duplicates
insert into ledger.duplicate (release_id, member_id, code, records)
select
  $1,
  member_id,
  code,
  count(*)
from duplicate
group by member_id, code
on conflict (member_id, code) do update set records = ledger.duplicate.records + excluded.records

-- statement: account
-- Counts the records of the members that were read. Reused members have no staged rows, and their counts were recorded when they were reused. Rows of an
-- earlier release to which a member refers are not counted again.
with counted as (
  select *
  from unnest($2::int4[], $3::int8[]) as x (member_id, rows)
),
refused as (
  select
    member_id,
    count(*) as records
  from reject
  group by member_id
),
said_twice as (
  select
    member_id,
    count(*) as records
  from duplicate
  group by member_id
),
found as (
  select
    m.member_id,
    f.name,
    m.path,
    m.records,
    case when m.row_member_id is null then coalesce(c.rows, 0) else m.rows end as rows,
    m.rejects + coalesce(r.records, 0) as rejects,
    m.duplicates + coalesce(d.records, 0) as duplicates,
    not exists (select from entangled e where e.member_id = m.member_id) as alone
  from ledger.member m
  join ledger.file f using (file_id)
  left join counted c using (member_id)
  left join refused r using (member_id)
  left join said_twice d using (member_id)
  where m.release_id = $1
),
-- Most members of a release are reused, and their counts stay the same.
changed as (
  update ledger.member m
  set rows = n.rows,
    rejects = n.rejects,
    duplicates = n.duplicates,
    alone = n.alone
  from found n
  where m.member_id = n.member_id
    and (m.rows, m.rejects, m.duplicates, m.alone) is distinct from (n.rows, n.rejects, n.duplicates, n.alone)
)
select
  name,
  path,
  records,
  rows,
  rejects,
  duplicates
from found

-- statement: without_value
select count(*)::int4 as records
from ledger.reject
where release_id = $1
  and code = $2

-- statement: finish
update ledger.release
set state = 'loaded',
  loaded_at = now(),
  records = $2,
  rows = $3,
  rejects = $4,
  duplicates = $5,
  layers = $6
where release_id = $1

-- statement: rejects
create table if not exists reject (member_id int4, position int8, code text, message text, raw text)

-- statement: duplicates
create table if not exists duplicate (member_id int4, position int8, code text)

-- statement: note_repeats
insert into duplicate (member_id, position, code)
select
  member_id,
  position,
  $1
from (
  select
    raw.member_id,
    raw.position,
    row_number() over (partition by member.file_id, :"raw.columns" order by raw.member_id, raw.position) as nth
  from :"staging" as raw
  join member using (member_id)
) ranked
where nth > 1

-- statement: reject_without_area
insert into reject (member_id, position, code, message, raw)
select
  raw.member_id,
  raw.position,
  'geometry_without_area',
  'expected a polygon with an area, found one that is empty once it is made valid',
  left(st_asewkt(raw.geom), 2000)
from :"staging" as raw
where not exists (
  select
  from :"layer" as kept
  where kept.member_id = raw.member_id
    and kept.position = raw.position
)

-- statement: note_places
insert into ledger.file_place (file_id, layer, series, region_code, likely_region_code, dated, named, places, names)
select
  file_id,
  layer,
  series,
  region_code,
  likely_region_code,
  dated,
  named,
  array_agg(place order by place collate "C"),
  case when count(name) > 0 then array_agg(name order by place collate "C") end
from place
group by file_id, layer, series, region_code, likely_region_code, dated, named

-- statement: releases_without_places
-- Lists releases that an earlier version of mappale loaded without recording the comuni in the files.
select
  release_id as id,
  source_id as source
from ledger.release r
where state = 'loaded'
  and rows > 0
  and not exists (
    select
    from ledger.file f
    join ledger.file_place p using (file_id)
    where f.release_id = r.release_id
  )
order by release_id

-- statement: name_documents
-- Gives each member the document of the last loaded member of the source with the same file name and path. If several members of the release have the same
-- file name and path, each of them gets a separate document.
with own as (
  select
    m.member_id,
    f.name,
    m.path,
    count(*) over (partition by f.name, m.path) as members
  from ledger.member m
  join ledger.file f using (file_id)
  where m.release_id = $1
),
earlier as (
  select distinct on (f.name, m.path)
    f.name,
    m.path,
    coalesce(m.document_id, m.member_id) as document_id
  from ledger.release r
  join ledger.file f using (release_id)
  join ledger.member m using (file_id)
  where r.source_id = (select source_id from ledger.release where release_id = $1)
    and r.release_id <> $1
    and r.state = 'loaded'
  order by f.name, m.path, m.member_id desc
)
update ledger.member m
set document_id = e.document_id
from own o
join earlier e using (name, path)
where o.members = 1
  and m.member_id = o.member_id

-- statement: note_loaded
update ledger.file
set
  present = true,
  arrived_run = $2
where release_id = $1

-- statement: drop_members
drop table if exists member

-- statement: entangled
-- Lists the members that a later release must read again. If load.sql did not create the table, these are all members with rejects or duplicates, because a
-- reject or duplicate may depend on a different member.
create table if not exists entangled as
select member_id
from reject
union
select member_id
from duplicate

-- statement: forget_staging
delete from ledger.release
where state = 'staging'

-- statement: add_member
insert into ledger.member (release_id, file_id, path, crc32, size, before, after, region_code)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning member_id as id

-- statement: count_member
update ledger.member
set
  records = $2,
  rows = $3,
  rejects = $4,
  duplicates = $5
where member_id = $1

-- statement: add_duplicates
insert into ledger.duplicate (release_id, member_id, code, records)
select
  $1,
  $2,
  *
from unnest($3::text[], $4::int8[])
