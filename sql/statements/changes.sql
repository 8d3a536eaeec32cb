-- purpose: numbers of parcels that a publication changed, and the cut-off dates of its sources
-- reads: core.parcel, ledger.figure, ledger.file, ledger.publication, ledger.publication_file, ledger.publication_table, ledger.release, ledger.swap
-- writes: ledger.swap_count, ledger.swap_source
-- grain: one row per swap and comune, or per swap and source
-- crs: none

-- statement: last_swap
select max(swap_id) as swap
from ledger.swap
where unit_code = $1

-- statement: swap
-- Returns the unit and the publication of a swap, and the publication before the swap.
select
  s.unit_code::int4 as unit,
  s.publication_id as publication,
  (
    select b.publication_id
    from ledger.swap b
    where b.unit_code = s.unit_code
      and b.swap_id < s.swap_id
    order by b.swap_id desc
    limit 1
  ) as before
from ledger.swap s
where s.swap_id = $1

-- statement: regions
select
  unit_code::int4 as region,
  publication_id as publication
from ledger.publication
where state = 'current'
  and unit_code > 0
order by 1

-- statement: touched
select coalesce(array_agg(t.fid order by t.fid), '{}') as fids
from past.touched($1, $2, $3, $4, null) t

-- statement: compared
select
  b.parcels as parcels_before,
  b.cells as cells_before,
  a.parcels as parcels_after,
  a.cells as cells_after
from ledger.swap s
cross join lateral past.columns_at($1, $2, $3, s.happened_at) b
cross join lateral past.columns_at($1, $2, $3, s.happened_at + interval '1 microsecond') a
where s.swap_id = $4

-- statement: parcels_by_comune
-- Uses the counts of the quality gate. If an earlier version of mappale published the region without counts, this statement counts the parcels.
with counted as (
  select
    f.comune as belfiore,
    sum(f.rows)::int4 as parcels
  from ledger.publication_table t
  join ledger.figure f using (relation, partition)
  where t.publication_id = $3
    and t.relation = 'core.parcel'
    and f.comune <> ''
  group by f.comune
)
select
  belfiore,
  parcels
from counted
union all
select
  belfiore,
  count(*)::int4
from core.parcel
where fid >= $4
  and fid < $5
  and not exists (select from counted)
group by belfiore

-- statement: count_changes
insert into ledger.swap_count (swap_id, region_code, belfiore, added, removed, changed, unchanged)
select
  $1,
  $2,
  belfiore,
  coalesce(d.added, 0),
  coalesce(d.removed, 0),
  coalesce(d.changed, 0),
  coalesce(t.parcels, 0) - coalesce(d.added, 0) - coalesce(d.changed, 0)
from (:"parcels") t
full join unnest($6::text[], $7::int4[], $8::int4[], $9::int4[]) as d (belfiore, added, removed, changed) using (belfiore)
on conflict do nothing

-- statement: count_added
insert into ledger.swap_count (swap_id, region_code, belfiore, added, removed, changed, unchanged)
select
  $1,
  $2,
  t.belfiore,
  t.parcels,
  0,
  0,
  0
from (:"parcels") t
on conflict do nothing

-- statement: count_removed
insert into ledger.swap_count (swap_id, region_code, belfiore, added, removed, changed, unchanged)
select
  $1,
  $2,
  t.belfiore,
  0,
  t.parcels,
  0,
  0
from (:"parcels") t
on conflict do nothing

-- statement: files
select
  r.source_id as source,
  array_agg(distinct f.vintage) as vintages
from ledger.publication_file p
join ledger.file f using (file_id)
join ledger.release r using (release_id)
where p.publication_id = $1
group by r.source_id
order by r.source_id

-- statement: add_sources
insert into ledger.swap_source (swap_id, source_id, cut_off)
select
  $1,
  source_id,
  cut_off
from unnest($2::text[], $3::date[]) as n (source_id, cut_off)
on conflict do nothing

-- statement: counts_since
-- Returns the publications of a region and of Italy in a range of the changelog, with the numbers of the region's parcels by comune.
select coalesce(json_agg(c.answer::json order by s.swap_id), '[]') as publications
from api.changes_begin($1, $2, null, $3) b
join ledger.swap s on s.unit_code in (0, $1)
  and s.swap_id > b.swap
  and s.swap_id <= $4
cross join lateral api.publication_counts(s.swap_id, $1) c
