-- purpose: data for the report about the publication of a region
-- reads: core.comune, core.comune_found, core.comune_register, layer.boundary, ledger.attribution, ledger.duplicate, ledger.figure, ledger.file, ledger.member, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.reject, ledger.release, ledger.run, ledger.step
-- writes: none
-- grain: one row per reported fact
-- crs: EPSG:4326, longitude latitude

-- statement: publications
-- Returns the current and the previous publication of the region and of Italy. Italy is included because every response may contain names from the publication
-- of Italy.
select
  p.unit_code::int4 as unit,
  p.publication_id as publication,
  p.state,
  to_char(p.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at,
  p.digest,
  p.reason,
  p.accepted,
  r.run_id as run,
  r.command,
  r.version
from ledger.publication p
join ledger.run r using (run_id)
where p.unit_code in (0, $1)
  and p.state in ('current', 'previous')
order by 1, 3

-- statement: tables
select
  p.unit_code::int4 as unit,
  t.relation,
  t.partition,
  t.rows,
  :"size" as bytes,
  b.rows as rows_before,
  coalesce(b.partition = t.partition, false) as stands
from ledger.publication p
join ledger.publication_table t using (publication_id)
left join ledger.publication q
  on q.unit_code = p.unit_code
  and q.state = 'previous'
left join ledger.publication_table b
  on b.publication_id = q.publication_id
  and b.relation = t.relation
-- Tables of Italy are swapped as a whole, so the table itself is measured instead of a partition.
cross join lateral (
  select to_regclass(format('%I.%I', split_part(t.relation, '.', 1), case p.unit_code when 0 then split_part(t.relation, '.', 2) else coalesce(t.held_in, t.partition) end)) as id
) c
where p.unit_code in (0, $1)
  and p.state = 'current'
order by 1, t.relation collate "C"

-- statement: size
pg_total_relation_size(c.id)

-- statement: size_on_nodes
-- For a distributed table, returns the total size on all nodes, because the rows are not on the coordinator.
case
  when exists (select from pg_dist_partition d where d.logicalrelid = c.id) then citus_total_relation_size(c.id)
  else pg_total_relation_size(c.id)
end

-- statement: releases
-- Returns the recorded totals of each release, and the totals recomputed from the members, rejects and duplicates of the release.
with used as (
  select
    f.release_id,
    json_agg(
      json_build_object(
        'name', f.name, 'role', f.role, 'bytes', f.size, 'sha256', f.sha256, 'vintage', f.vintage, 'dated', f.dated, 'in_data_folders', f.present
      )
      order by f.name collate "C", f.sha256
    ) as files
  from ledger.file f
  where f.file_id in (
    select c.file_id
    from ledger.publication p
    join ledger.publication_file c using (publication_id)
    where p.unit_code in (0, $1)
      and p.state = 'current'
  )
  group by f.release_id
)
select
  r.release_id as release,
  r.source_id as source,
  r.vintage,
  u.files,
  r.records,
  r.rows,
  r.rejects,
  r.duplicates,
  m.records as member_records,
  m.rows as member_rows,
  (
    select count(*)
    from ledger.reject x
    where x.release_id = r.release_id
  ) as kept_rejects,
  (
    select coalesce(sum(d.records), 0)::int8
    from ledger.duplicate d
    where d.release_id = r.release_id
  ) as kept_duplicates,
  m.broken as broken_members,
  (
    select s.detail -> 'warnings'
    from ledger.step s
    where s.step = 'load'
      and s.detail ->> 'release' = r.release_id::text
    order by s.step_id desc
    limit 1
  ) as warnings,
  extract(epoch from r.loaded_at - r.created_at)::float8 as seconds
from used u
join ledger.release r using (release_id)
cross join lateral (
  select
    sum(e.records)::int8 as records,
    sum(e.rows)::int8 as rows,
    coalesce(array_agg(e.path order by e.path) filter (where e.records is distinct from e.rows + e.rejects + e.duplicates), '{}') as broken
  from ledger.member e
  where e.release_id = r.release_id
) m
order by r.source_id collate "C", r.vintage collate "C", r.release_id

-- statement: rejects
with refused as (
  select
    r.source_id,
    x.code,
    f.name as file,
    m.path as member,
    x.position,
    x.message,
    row_number() over (partition by r.source_id, x.code order by f.name collate "C", m.path collate "C", x.position, x.reject_id) as nth
  from ledger.reject x
  join ledger.release r using (release_id)
  join ledger.member m using (member_id)
  join ledger.file f on f.file_id = m.file_id
  where x.release_id in (
    select g.release_id
    from ledger.publication p
    join ledger.publication_file c using (publication_id)
    join ledger.file g using (file_id)
    where p.unit_code in (0, $1)
      and p.state = 'current'
  )
)
select
  source_id as source,
  code,
  count(*) as records,
  json_agg(json_build_object('file', file, 'member', nullif(member, ''), 'position', position, 'message', message) order by nth) filter (where nth <= 3) as examples
from refused
group by source_id, code
order by source_id collate "C", count(*) desc, code collate "C"

-- statement: figures
-- Returns the metrics by province and by comune. The metrics of a table that both publications share are returned for both publications.
select
  p.state,
  t.relation,
  f.slice,
  f.province,
  f.comune,
  f.rows,
  f.fields
from ledger.publication p
join ledger.publication_table t using (publication_id)
join ledger.figure f using (relation, partition)
where p.unit_code = $1
  and p.state in ('current', 'previous')
  and f.province <> '*'
order by t.relation collate "C", f.slice collate "C", f.province collate "C", f.comune collate "C"

-- statement: steps
select
  s.step,
  s.subject,
  extract(epoch from s.ended_at - s.started_at)::float8 as seconds,
  s.detail
from ledger.publication p
join ledger.step s using (run_id)
where p.unit_code = $1
  and p.state = 'current'
  and s.subject in ($2, 'workspaces')
order by s.step_id

-- statement: licenses
select
  a.source,
  a.source_id,
  array_agg(a.section order by a.section collate "C") filter (where a.section <> '*') as sections,
  a.holder,
  a.license,
  a.url,
  string_agg(distinct nullif(a.reference_period, ''), ', ') as reference_period,
  a.attribution
from ledger.publication p
join ledger.attribution a using (publication_id)
where p.unit_code in (0, $1)
  and p.state = 'current'
group by a.source_id, a.source, a.holder, a.license, a.url, a.attribution
order by a.source_id collate "C"

-- statement: comuni
select
  belfiore,
  name,
  province_code,
  province_name
from core.comune
where region_code = $1
union all
select
  f.belfiore,
  f.name,
  '',
  null
from core.comune_found f
where f.region_code = $1
  and not exists (select from core.comune c where c.belfiore = f.belfiore)
order by belfiore

-- statement: coverage
select api.quality_coverage($1, $2) as coverage

-- statement: outlines
-- Returns the boundary of each comune from the newest edition that contains the comune. Boundaries are simplified for a small map.
with meaning as (
  select
    c.istat_code as code,
    c.belfiore
  from core.comune c
  where c.region_code = $1
  union
  select
    r.old_istat_code,
    r.belfiore
  from core.comune_register r
  where r.region_code = $1
    and not r.divided
),
drawn as (
  select
    coalesce(b.belfiore, m.belfiore) as belfiore,
    b.vintage,
    b.geom,
    dense_rank() over (partition by coalesce(b.belfiore, m.belfiore) order by b.vintage desc, b.release_id desc) as edition
  from layer.boundary b
  left join meaning m using (code)
  where b.kind = 'comune'
    and coalesce(b.belfiore, m.belfiore) in (select belfiore from meaning)
    and b.release_id in (
      select f.release_id
      from ledger.publication p
      join ledger.publication_file c using (publication_id)
      join ledger.file f using (file_id)
      where p.unit_code in (0, $1)
        and p.state = 'current'
    )
),
whole as (
  select
    belfiore,
    st_collect(geom) as geom
  from drawn
  where edition = 1
  group by belfiore
),
scale as (
  select greatest(st_xmax(st_extent(geom)) - st_xmin(st_extent(geom)), st_ymax(st_extent(geom)) - st_ymin(st_extent(geom))) / 500 as step_deg
  from whole
)
select
  w.belfiore,
  -- Rounds the boundaries first, so that all engines start a ring at the same vertex. Simplification keeps this vertex.
  st_asgeojson(
    st_multi(st_collectionextract(st_simplifypreservetopology(st_normalize(st_unaryunion(st_snaptogrid(w.geom, 0.00001))), s.step_deg), 3)), 5
  )::json as geometry
from whole w
cross join scale s
order by w.belfiore
