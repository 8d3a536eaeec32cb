-- purpose: history of publications: replaced rows, and views that read the tables as they were at a past time
-- reads: core.parcel, core.parcel_register, ledger.publication, ledger.publication_table, ledger.swap
-- writes: ledger.swap
-- grain: one row per key and range of swaps
-- crs: none

-- A swap (ledger.swap) changes the current publication of a region or of Italy. A row of history stores the former content of a key, from one swap until a
-- later swap. If absent is true, the key had no row. If no row of history for a key ends after a given time, the current row of the key was already valid at
-- that time. Rows that never changed are therefore stored only in the current tables.

-- statement: tables
-- Lists the keys and columns of the swapped tables. A swapped table is partitioned, or is a table of Italy.
select
  q.relation,
  pg_get_partkeydef(c.oid) as split,
  coalesce(
    (
      select jsonb_agg(a.attname order by k.turn)
      from pg_index x
      cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, turn)
      join pg_attribute a on a.attrelid = x.indrelid
        and a.attnum = k.attnum
      where x.indrelid = c.oid
        and x.indisprimary
    ),
    '[]'
  ) as key,
  (
    select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
    from pg_attribute a
    where a.attrelid = c.oid
      and a.attnum > 0
      and not a.attisdropped
  ) as columns
from unnest($1::text[]) as q (relation)
join pg_class c on c.oid = to_regclass(q.relation)
where c.relkind in ('r', 'p')
order by q.relation

-- statement: keep
create table if not exists :"history" (
  :"columns",
  from_swap int4 not null,
  until_swap int4 not null,
  absent bool not null,
  primary key (:"key", until_swap)
);

-- statement: follow
-- Adds, converts and drops columns of a history table, so that its columns match those of the current table. In older rows, added columns are null.
select format('alter table %s add column %I %s', to_regclass($2), p.attname, format_type(p.atttypid, p.atttypmod)) as sql
from pg_attribute p
where p.attrelid = to_regclass($1)
  and p.attname = any ($3::text[])
  and not exists (
    select
    from pg_attribute h
    where h.attrelid = to_regclass($2)
      and h.attname = p.attname
      and not h.attisdropped
  )
union all
select format('alter table %s alter column %I type %s using %I::text::%s', to_regclass($2), p.attname, format_type(p.atttypid, p.atttypmod), p.attname, format_type(p.atttypid, p.atttypmod))
from pg_attribute p
join pg_attribute h on h.attrelid = to_regclass($2)
  and h.attname = p.attname
where p.attrelid = to_regclass($1)
  and p.attname = any ($3::text[])
  and format_type(p.atttypid, p.atttypmod) <> format_type(h.atttypid, h.atttypmod)
union all
select format('alter table %s drop column %I', to_regclass($2), h.attname)
from pg_attribute h
where h.attrelid = to_regclass($2)
  and h.attnum > 0
  and not h.attisdropped
  and h.attname <> all ($3::text[])

-- statement: describe
comment on table :"history" is :'description';
comment on column :"history".from_swap is 'Swap (ledger.swap) that made the row current. If this swap is unknown, the first swap of the kept history';
comment on column :"history".until_swap is 'Swap (ledger.swap) that replaced the row';
comment on column :"history".absent is 'True: the key had no row, and the other columns are null';

-- statement: describe_columns
select format('comment on column %s.%I is %L', to_regclass($2), h.attname, coalesce(col_description(p.attrelid, p.attnum), $3)) as sql
from pg_attribute h
left join pg_attribute p on p.attrelid = to_regclass($1)
  and p.attname = h.attname
where h.attrelid = to_regclass($2)
  and h.attnum > 0
  and not h.attisdropped
  and h.attname not in ('from_swap', 'until_swap', 'absent')

-- statement: index
-- serves: conditions by which a record reads a table without a key
create index if not exists :"index" on :"history" (:"columns");

-- statement: index_of_swap
-- serves: rows that a swap replaced
create index if not exists :"index" on :"history" (:"columns");

-- statement: index_of_shapes
-- serves: former parcels in a box
create index if not exists :"index" on :"history" using gist (geom);

-- statement: sought
-- Lists the columns of each B-tree index of a table without a key. A record reads the table by these columns.
select jsonb_agg(a.attname order by k.turn) as columns
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_am m on m.oid = i.relam
cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, turn)
join pg_attribute a on a.attrelid = x.indrelid
  and a.attnum = k.attnum
where x.indrelid = to_regclass($1)
  and m.amname = 'btree'
group by x.indexrelid
order by x.indexrelid

-- statement: begin_past
create schema past;
comment on schema past is 'Views with the past content of the tables that a record reads, and functions that set and look up the past time';

create function past.looked_at() returns int4
language sql stable as $$
  select current_setting('mappale.region')::int4
$$;
comment on function past.looked_at() is 'Region of the parcel whose past record the transaction reads';

create function past.swap_at(p_unit int4) returns int4
language plpgsql stable as $$
begin
  return (
    select s.swap_id
    from ledger.swap s
    where s.unit_code = p_unit
      and s.happened_at < current_setting('mappale.moment')::timestamptz
    order by s.swap_id desc
    limit 1
  );
end
$$;
comment on function past.swap_at(int4) is 'Last swap of a region (0: Italy) before the past time that the transaction reads. Null if there was no swap';

create function past.publication_at(p_unit int4) returns int4
language plpgsql stable as $$
declare
  v_swap constant int4 := past.swap_at(p_unit);
begin
  return (select s.publication_id from ledger.swap s where s.swap_id = v_swap);
end
$$;
comment on function past.publication_at(int4) is 'Publication of a region (0: Italy) that was current at the past time that the transaction reads. Null if there was none';

create function past.swap_of(p_relation text, p_unit int4) returns int4
language plpgsql stable as $$
declare
  -- Calls the function once and not in the condition, where PostgreSQL would call the function once per swap.
  v_swap constant int4 := past.swap_at(p_unit);
begin
  return (
    select s.swap_id
    from ledger.swap s
    join ledger.publication_table t on t.publication_id = s.publication_id
      and t.relation = p_relation
      and t.rows > 0
    where s.swap_id = v_swap
  );
end
$$;
comment on function past.swap_of(text, int4) is 'Last swap of a region (0: Italy) before the past time that the transaction reads. Null if the publication of this swap has no rows of the table';

create function past.since(p_unit int4) returns timestamptz
language plpgsql stable as $$
begin
  -- A past record also needs the history of Italy, which may have been pruned more than the history of the region.
  return (
    select greatest(min(s.happened_at) filter (where s.unit_code = p_unit), max(s.kept_from))
    from ledger.swap s
    where s.unit_code in (0, p_unit)
    having bool_or(s.unit_code = p_unit)
  );
end
$$;
comment on function past.since(int4) is 'Time from which the publications of a region are kept. Null if the region was never published';

create view past.publication as
select
  a.publication_id,
  u.unit_code,
  'current'::text as state
from (select distinct s.unit_code from ledger.swap s) u
cross join lateral (
  -- Looks up the past publication once per region, because regions have many publications.
  select past.publication_at(u.unit_code) as publication_id
  offset 0
) a
where a.publication_id is not null;
comment on view past.publication is 'Publications that were current at the past time that the transaction reads';

create function past.record_at(p_fid int4, p_include text[], p_moment timestamptz, out head text, out citations uuid[])
language plpgsql volatile
-- With this clause, PostgreSQL restores the caller's search path when the function ends.
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  -- If no swap followed, the past state is the current state.
  if not exists (
    select
    from ledger.swap s
    where s.unit_code in (0, core.region_of(p_fid))
      and s.happened_at >= p_moment
  ) then
    select r.* into head, citations from api.region_record(p_fid, p_include) r;
  else
    perform set_config('mappale.moment', p_moment::text, true);
    perform set_config('mappale.region', core.region_of(p_fid)::text, true);
    perform set_config('search_path', 'past, core, section, ledger, public, pg_temp', true);
    select r.* into head, citations from api.parcel_record(p_fid, p_include, null::past.parcel) r;
  end if;
end
$$;
comment on function past.record_at(int4, text[], timestamptz) is 'Record of a parcel just before a given time, in the parts of api.parcel_record. Both results are null if there was no such parcel. The history of the region must include the time';

create function past.columns_at(p_region int4, p_fids int4[], p_sections text[], p_moment timestamptz, out parcels json, out cells text)
language plpgsql volatile
-- With this clause, PostgreSQL restores the caller's search path when the function ends.
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform set_config('mappale.moment', p_moment::text, true);
  perform set_config('mappale.region', p_region::text, true);
  perform set_config('search_path', 'past, core, section, ledger, public, pg_temp', true);
  select json_agg(json_build_array(p.fid, p.reference, p.belfiore, st_asgeojson(st_forcepolygonccw(p.geom), 15)))
  into parcels
  from past.parcel p
  where p.fid = any (p_fids);
  cells := api.columns_of(p_fids, p_sections, null::past.parcel);
end
$$;
comment on function past.columns_at(int4, int4[], text[], timestamptz) is 'The given parcels of a region, just before a given time. Result parcels is an array with one element [fid, cadastral reference, comune, geometry (GeoJSON as text)] per parcel. Result cells is that of api.columns_of. The history of the region must include the time';

create function past.parcels_in(p_region int4, p_moment timestamptz, p_box geometry) returns table (fid int4, reference text, geom geometry)
language plpgsql volatile
-- With this clause, PostgreSQL restores the caller's search path when the function ends.
set search_path to core, section, ledger, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform set_config('mappale.moment', p_moment::text, true);
  perform set_config('mappale.region', p_region::text, true);
  perform set_config('search_path', 'past, core, section, ledger, public, pg_temp', true);
  return query
  select
    p.fid,
    p.reference,
    p.geom
  from past.parcel p
  where p.geom && p_box;
end
$$;
comment on function past.parcels_in(int4, timestamptz, geometry) is 'Parcels of a region in a box just before a given time. The history of the region must include the time';

-- statement: touching
create function past.touches_all(p_region int4, p_swap int4) returns bool
language plpgsql stable as $$
declare
  v_swap ledger.swap;
  v_before ledger.swap;
begin
  select s.*
  into v_swap
  from ledger.swap s
  where s.swap_id = p_swap;
  select s.*
  into v_before
  from ledger.swap s
  where s.unit_code = v_swap.unit_code
    and s.swap_id < p_swap
  order by s.swap_id desc
  limit 1;
  return (v_swap.unit_code = p_region and (v_swap.publication_id is null or v_before.publication_id is null))
    -- If the table was empty before the swap, history does not record that the inserted rows were absent.
    or exists (
      select
      from ledger.publication_table n
      where n.publication_id = v_swap.publication_id
        and n.relation = any (array[:'relations'])
        and n.rows > 0
        and not exists (
          select
          from ledger.publication_table o
          where o.publication_id = v_before.publication_id
            and o.relation = n.relation
            and o.rows > 0
        )
    )
    :"others";
end
$$;
comment on function past.touches_all(int4, int4) is 'True if a swap may have changed every parcel of a region. Such a swap published the region for the first time, removed the region, filled an empty table, or replaced rows that do not belong to single parcels';

create function past.touched(p_region int4, p_swap int4, p_after int4, p_end int4, p_most int4) returns table (fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select t.fid
  from (
    :"parts"
    union
    (
      select p.fid
      from core.parcel p
      where p.fid > p_after
        and p.fid < p_end
        and past.touches_all(p_region, p_swap)
      order by p.fid
      limit p_most
    )
    union
    (
      select distinct h.fid
      from history.parcel h
      where h.fid > p_after
        and h.fid < p_end
        and past.touches_all(p_region, p_swap)
      order by h.fid
      limit p_most
    )
  ) t
  order by t.fid
  limit p_most;
end
$$;
comment on function past.touched(int4, int4, int4, int4, int4) is 'First parcels that a swap may have changed, in a range of fids of a region. The result includes all changed parcels, and possibly unchanged parcels'

-- statement: touched_rows
(
  select distinct h.fid
  from :"history" h
  where h.until_swap = p_swap
    and h.fid > p_after
  order by h.fid
  limit p_most
)

-- statement: touched_by_section
(
  select f.fid
  from api.:"function"(p_region, p_swap, p_after, p_end) f
  order by f.fid
  limit p_most
)

-- statement: touching_table
or exists (select from :"history" h where h.until_swap = p_swap)

-- statement: end_past
drop schema if exists past cascade

-- statement: end_seen
drop view if exists :"view"

-- statement: swap_of_italy
(select past.swap_of(:'relation', 0))

-- statement: swap_of_region
-- Looks up the swap of the parcel's region once per statement. Few rows belong to other regions.
case when :"region" = (select past.looked_at()) then (select past.swap_of(:'relation', past.looked_at())) else past.swap_of(:'relation', :"region") end

-- statement: no_later_history
not exists (
  select
  from :"history" h
  where :"same"
    and h.until_swap > s.id
)

-- statement: no_later_history_of_region
-- Searches for any later history of the region first, because this search is faster than the digest of a row.
(
  not exists (
    select
    from :"history" h
    where h.region_code = t.region_code
      and h.until_swap > s.id
  )
  or :"of_row"
)

-- statement: seen
create view :"view" as
select
  :"shown"
from :"from" t
cross join lateral (
  select :"swap" as id
  offset 0
) s
where s.id is not null
  and :"unreplaced"
union all
select
  :"shown"
from :"history" t
cross join lateral (
  select :"swap" as id
  offset 0
) s
where t.from_swap <= s.id
  and t.until_swap > s.id
  and not t.absent;
comment on view :"view" is :'description'

-- statement: note
insert into ledger.swap (unit_code, publication_id, happened_at)
values ($1, $2, clock_timestamp())
returning swap_id as swap

-- statement: happened
-- Sets the time of a swap. Readers are already blocked, and remain blocked until this transaction ends.
update ledger.swap
set happened_at = clock_timestamp()
where swap_id = $1

-- statement: begin_again
-- Starts the history at the current publication, if the replaced rows are not kept.
with last as (
  select
    unit_code,
    max(swap_id) as swap
  from ledger.swap
  group by unit_code
  having max(swap_id) > min(swap_id)
),
marked as (
  update ledger.swap s
  set kept_from = s.happened_at
  from last l
  where s.swap_id = l.swap
)
delete from ledger.swap s
using last l
where s.unit_code = l.unit_code
  and s.swap_id < l.swap

-- statement: first
select min(swap_id) as swap
from ledger.swap
where unit_code = $1

-- statement: keep_rows
-- Stores removed and changed rows. For each new row, stores that the key had no row before. Reads the old and the new table once. Sorts the rows before the
-- first insertion. Otherwise, each search for the last swap of a key would read the rows that this statement has already inserted.
insert into :"history" (:"columns", from_swap, until_swap, absent)
select
  :"k.columns",
  k.from_swap,
  $1,
  k.absent
from (
  select
    :"d.columns",
    coalesce(
      -- Last swap for which the key already has history.
      (
        select max(h.until_swap)
        from :"history" h
        where :"same"
      ),
      $2
    ) as from_swap,
    d.absent
  from (
    select
      :"key",
      :"w.others",
      w.there_ is null as absent
    from (:"leaving") w
    full join (:"coming") n using (:"key")
    where w.there_ is null
      or n.there_ is null
      -- Compares the bytes of the rows instead of each column with the operator of its type.
      or row(:"w.content")::record *<> row(:"n.content")::record
  ) d
  offset 0
) k
order by :"k.key"

-- statement: rows
select
  t.*,
  true as there_
from :"from" t

-- statement: rows_by_content
-- Reads a table without a key, where rows are identified by their complete content.
select distinct on (c.row_hash)
  c.*,
  true as there_
from (
  select
    t.*,
    :"digest" as row_hash
  from :"from" t
) c

-- statement: digest_of_row
hashtextextended(row(:"t.columns")::text, 0)

-- statement: no_rows
select *
from (:"rows") r
where false

-- statement: horizon
-- Returns for each region and for Italy the swap that created the state of a given number of months ago, if there are earlier swaps.
select
  unit_code::int4 as region,
  max(swap_id) as swap
from ledger.swap
where happened_at <= now() - make_interval(months => $1)
group by unit_code
having max(swap_id) > min(swap_id)
order by 1

-- statement: kept
select c.relname as name
from pg_class c
where c.relnamespace = to_regnamespace('history')
  and c.relkind = 'r'
order by 1

-- statement: empty
truncate :"history"

-- statement: rows_before
select count(*) as rows
from :"history" h
join ledger.swap s on s.swap_id = h.until_swap
join unnest($1::int4[], $2::int4[]) as z (region, swap) on z.region = s.unit_code
  and z.swap >= s.swap_id

-- statement: swaps_before
select count(*) as swaps
from ledger.swap s
join unnest($1::int4[], $2::int4[]) as z (region, swap) on z.region = s.unit_code
  and z.swap > s.swap_id

-- statement: cut_rows
delete from :"history" h
using ledger.swap s
join unnest($1::int4[], $2::int4[]) as z (region, swap) on z.region = s.unit_code
  and z.swap >= s.swap_id
where s.swap_id = h.until_swap

-- statement: cut_swaps
delete from ledger.swap s
using unnest($1::int4[], $2::int4[]) as z (region, swap)
where z.region = s.unit_code
  and z.swap > s.swap_id

-- statement: cut_here
update ledger.swap s
set kept_from = now() - make_interval(months => $3)
from unnest($1::int4[], $2::int4[]) as z (region, swap)
where z.swap = s.swap_id

-- statement: moments
-- Lists the publications of a parcel's region and of Italy since the start of history, and those that were current at the start.
select
  s.unit_code::int4 as region,
  s.publication_id as publication,
  to_char(greatest(s.happened_at, k.since) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
  (greatest(s.happened_at, k.since) + interval '1 microsecond')::text as moment
from ledger.swap s
cross join (
  select past.since($1) as since
) k
where s.unit_code in (0, $1)
  and (
    s.happened_at >= k.since
    or s.swap_id in (
      select max(b.swap_id)
      from ledger.swap b
      where b.unit_code in (0, $1)
        and b.happened_at < k.since
      group by b.unit_code
    )
  )
order by greatest(s.happened_at, k.since), s.unit_code desc

-- statement: record
select
  api.whole_record(r.head, $2, r.citations) as record,
  api.retired_parcel_at($1, $3::timestamptz) as retired
from past.record_at($1, $2, $3::timestamptz) r

-- statement: keeps_history
select api.keeps_history() as keeps

-- statement: registered
-- Returns the fids that the given references have or had, with the position of the reference in the list. Looks up each reference in each region with the index.
(
  select
    r.*,
    n.position
  from unnest($1::text[]) with ordinality as n (reference, position)
  cross join unnest($2::int2[]) as g (code)
  cross join lateral (
    select
      k.region_code,
      k.fid,
      k.retired_on
    from core.parcel_register k
    where k.region_code = g.code
      and k.reference = n.reference
    offset 0
  ) r
)

-- statement: fid
select r.fid
from :"registered" r
order by r.retired_on is not null, r.position, r.region_code
limit 1

-- statement: references_of
-- Returns all current and former references of a parcel, and the reference that the parcel had when it was retired.
select p.reference
from core.parcel p
where p.fid = $1
union
select h.reference
from history.parcel h
where h.fid = $1
  and not h.absent
union
select k.reference
from core.parcel_register k
where k.region_code = core.region_of($1)
  and k.fid = $1
  and k.retired_on is not null

-- statement: other_fids
select distinct r.fid
from :"registered" r
where r.fid <> $3
order by r.fid
