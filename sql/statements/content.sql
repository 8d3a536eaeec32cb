-- purpose: digests and differences of the content of tables
-- reads: ledger.member
-- writes: none
-- grain: one row per table, or per comune
-- crs: none

-- A digest consists of two sums over the rows, each of a 64-bit hash with a different seed. A digest therefore has at least 128 bits and does not depend on the
-- order of the rows. It can be updated from the added and removed rows alone. If the columns that name the origin of a row are left out, the digest does not
-- depend on the origin either.

-- statement: sums
select
  count(*) as rows,
  coalesce(sum(hashtextextended(r.content, 0)), 0) as first,
  coalesce(sum(hashtextextended(r.content, 1)), 0) as second
from (
  :"contents"
) r

-- statement: contents
select row(:"t.columns")::text as content
from :"table" t

-- statement: contents_once
-- offset 0 makes PostgreSQL convert each row to text once instead of twice.
select row(:"t.columns")::text as content
from :"table" t
offset 0

-- statement: digest
select
  s.rows,
  concat_ws(' ', s.first, s.second) as digest
from (:"sums") s

-- statement: digest_of_places
select concat_ws(' ', s.rows, s.first, s.second) as digest
from (:"sums") s

-- statement: contents_of_places
select row(:"l.columns")::text as content
from :"table" l
join ledger.member m on coalesce(m.row_member_id, m.member_id) = l.member_id
join unnest($3::text[], $4::text[]) as p (series, place) on p.series = concat_ws(' ', :"l.series")
  and p.place = coalesce(:"l.place", '')
where l.release_id = any ($1::int4[])
  and m.file_id = $2
offset 0

-- statement: points_by_place
-- Counts the points of each place in the superseded files ($2) and in the current files ($3) of a list of points. In each place, only the newest file counts,
-- which is first in the array. A point moved if the current files have the point in other places only.
with listed as (
  select
    f.file_id,
    f.age,
    false as is_now
  from unnest($2::int4[]) with ordinality as f (file_id, age)
  union all
  select
    f.file_id,
    f.age,
    true
  from unnest($3::int4[]) with ordinality as f (file_id, age)
),
point as materialized (
  select
    is_now,
    place,
    id,
    min(region) as region
  from (
    select
      f.is_now,
      coalesce(l.:"place", '') as place,
      l.:"id" as id,
      coalesce((:"l.region")::int2, core.region_of_istat_code(:"l.istat_code")) as region,
      f.age,
      min(f.age) over (partition by f.is_now, coalesce(l.:"place", '')) as least_age
    from listed f
    join ledger.member m using (file_id)
    join :"table" l on l.member_id = coalesce(m.row_member_id, m.member_id)
    where l.release_id = any ($1::int4[])
  ) r
  where age = least_age
  group by
    is_now,
    place,
    id
),
now as materialized (
  select *
  from point
  where is_now
),
before as (
  select
    w.place,
    min(w.region) as region,
    count(*) as points,
    count(*) filter (where n.id is null and k.id is not null) as moved
  from point w
  left join now n on n.place = w.place
    and n.id = w.id
  left join (
    select distinct id
    from now
  ) k on k.id = w.id
  where not w.is_now
  group by w.place
),
after as (
  select
    place,
    min(region) as region,
    count(*) as points
  from now
  group by place
)
select
  place,
  coalesce(b.region, a.region)::int4 as region,
  coalesce(b.points, 0)::int4 as was,
  coalesce(a.points, 0)::int4 as now,
  coalesce(b.moved, 0)::int4 as moved
from before b
full join after a using (place)
order by place collate "C"

-- statement: same
with n as materialized (
  select row(:"t.columns")::text as content
  from :"now" t
),
w as materialized (
  select row(:"t.columns")::text as content
  from :"was" t
)
select
  not exists (
    select content
    from n
    except all
    select content
    from w
  ) and not exists (
    select content
    from w
    except all
    select content
    from n
  ) as same

-- statement: patched
-- Computes the row count and digest of a table from the previous values, after some rows were replaced.
select
  $1::int8 + n.rows - w.rows as rows,
  concat_ws(' ', split_part($2, ' ', 1)::numeric + n.first - w.first, split_part($2, ' ', 2)::numeric + n.second - w.second) as digest
from (:"came") n
cross join (:"gone") w

-- statement: former
(
  select :"t.columns"
  from :"published" t
  where not exists (
    select
    from :"fids" f
    where f.fid = t.fid
  )
  union all
  select :"columns"
  from :"rows"
)

-- statement: rows_of_parcel
select to_jsonb(t) as row
from :"table" t
where t.fid = $1
order by to_jsonb(t)::text

-- statement: parcels_with_one_row
-- A hash of 64 bits is enough here and in the next statement, because only rows of the same parcel are compared.
select
  t.*,
  :"comune" as comune_,
  hashtextextended(row(:"t.columns")::text, 0)::numeric as hash_
from :"table" t
join :"parcels" p using (fid)

-- statement: parcels_with_rows
select
  t.fid,
  min(p.belfiore) as comune_,
  sum(hashtextextended(row(:"t.columns")::text, 0)::numeric) as hash_
from :"table" t
join :"parcels" p using (fid)
group by t.fid

-- statement: rows_by_content
-- All rows are compared with each other, so the hash has 128 bits.
select
  md5(row(:"t.columns")::text) as fid,
  :"comune" as comune_,
  0 as hash_
from :"table" t

-- statement: changed_field
:'name', count(*) filter (
  where w.fid is not null
    and n.fid is not null
    and w.:"name" is distinct from n.:"name"
)

-- statement: differences
with w as (:"was"),
n as (:"now")
select
  coalesce(n.comune_, w.comune_) as comune,
  count(*) filter (where w.fid is null) as added,
  count(*) filter (where n.fid is null) as removed,
  count(*) filter (where w.fid is not null and n.fid is not null and w.hash_ <> n.hash_) as changed,
  jsonb_build_object(:"fields") as fields
from w
full join n on n.fid = w.fid
where w.fid is null
  or n.fid is null
  or w.hash_ <> n.hash_
group by 1
order by 1
