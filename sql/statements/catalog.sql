-- purpose: changes of schemas and tables with generated names, and queries of PostgreSQL's catalogue about their columns, indexes and comments
-- reads: ledger.publication, ledger.publication_table
-- writes: none
-- grain: one row per object
-- crs: none

-- If `sql` is the only column of a query, the program executes each value of this column as a statement, as \gexec in psql does.

-- statement: create_schema
create schema :"schema"

-- statement: drop_schema
drop schema if exists :"schema" cascade

-- statement: schemas_like
select nspname as name
from pg_namespace
where starts_with(nspname, $1)
order by 1

-- statement: look_in
set search_path to :"schemas"

-- statement: look_in_locally
set local search_path to :"schemas"

-- statement: drop_table
drop table if exists :"table"

-- statement: rename_table
alter table :"table" rename to :"name"

-- statement: give_table
alter table :"table" set schema :"schema"

-- statement: has_relation
select to_regclass($1) is not null as there

-- statement: analyze
analyze :"table"

-- statement: analyze_roughly
set default_statistics_target to 30;
analyze :"table";
reset default_statistics_target;

-- statement: count_rows
select count(*) as n
from :"table"

-- statement: sum_of_rows
select coalesce(sum(:"column"), 0)::int8 as n
from :"table"

-- statement: partition_key
select pg_get_partkeydef(to_regclass($1)) as key

-- statement: keep_replaced
-- Copies the fids of given parcels and the parcels' rows before the rows are replaced. A rollback needs the fids and the rows.
create table previous.:"rows" (like :"published" including defaults);
insert into previous.:"rows"
select t.*
from :"published" t
join :"fids" using (fid);
create table previous.:"fids_kept" as
select fid
from :"fids"

-- statement: remove_replaced
delete from :"published" t
using :"fids" f
where t.fid = f.fid

-- statement: insert_rows
insert into :"published" (:"columns")
select :"columns"
from :"came"

-- statement: attach
alter table :"parent" attach partition :"partition" :"bound"

-- statement: detach
alter table :"parent" detach partition :"partition"

-- statement: tables
select c.relname as name
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relkind = 'r'
order by 1

-- statement: drop_others
-- Drops views before tables, because dropping a table also drops the views that read the table.
select format('drop %s if exists %s cascade', kind, string_agg(name, ', ')) as sql
from (
  select
    case c.relkind when 'v' then 'view' else 'table' end as kind,
    format('%I.%I', n.nspname, c.relname) as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1
    and c.relkind in ('r', 'v')
    and c.relname <> all ($2::text[])
) o
group by kind
order by kind desc

-- statement: columns
select
  a.attname as name,
  exists (
    select
    from pg_index x
    where x.indrelid = a.attrelid
      and x.indisprimary
      and x.indnkeyatts = 1
      and x.indkey[0] = a.attnum
  ) as key
from pg_attribute a
where a.attrelid = to_regclass($1)
  and a.attnum > 0
  and not a.attisdropped
order by a.attname collate "C"

-- statement: differing_columns
select
  coalesce(p.attname, c.attname) as name,
  coalesce(format_type(p.atttypid, p.atttypmod), 'absent') as wanted,
  coalesce(format_type(c.atttypid, c.atttypmod), 'absent') as found
from (
  select *
  from pg_attribute
  where attrelid = to_regclass($1)
    and attnum > 0
    and not attisdropped
) p
full join (
  select *
  from pg_attribute
  where attrelid = to_regclass($2)
    and attnum > 0
    and not attisdropped
) c on c.attname = p.attname
where format_type(p.atttypid, p.atttypmod) is distinct from format_type(c.atttypid, c.atttypmod)
order by p.attnum, c.attnum

-- statement: prove
select format('alter table %s %s', to_regclass($2), string_agg(action, ', ' order by turn, attnum)) as sql
from (
  select
    1 as turn,
    p.attnum,
    format('alter column %I type %s collate "default"', p.attname, format_type(p.atttypid, p.atttypmod)) as action
  from pg_attribute p
  join pg_attribute c on c.attrelid = to_regclass($2)
    and c.attname = p.attname
  where p.attrelid = to_regclass($1)
    and p.attnum > 0
    and not p.attisdropped
    and p.attcollation <> c.attcollation
  union all
  select
    2,
    attnum,
    format('alter column %I set not null', attname)
  from pg_attribute
  where attrelid = to_regclass($1)
    and attnum > 0
    and not attisdropped
    and attnotnull
  union all
  select
    3,
    0,
    format('drop constraint if exists bound, add constraint bound check (%s)', $3::text)
  where $3::text is not null
) a
having count(*) > 0

-- statement: rename_indexes
select format('alter index %I.%I rename to %I', schema, name, renamed) as sql
from (
  select
    n.nspname as schema,
    i.relname as name,
    format('%s_i%s', $2::text, row_number() over (order by i.oid)) as renamed
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_namespace n on n.oid = i.relnamespace
  where x.indrelid = to_regclass($1)
) i
where name <> renamed

-- statement: copy_comments
select
  case
    when a.attname is null then format('comment on table %s is %L', to_regclass($2), d.description)
    else format('comment on column %s.%I is %L', to_regclass($2), a.attname, d.description)
  end as sql
from pg_description d
left join pg_attribute a on a.attrelid = d.objoid
  and a.attnum = d.objsubid
  and d.objsubid > 0
where d.objoid = to_regclass($1)
  and d.classoid = 'pg_class'::regclass

-- statement: column_changes
-- Lists the changes that turn the columns of a table into the columns of another table without losing rows. Column sql is an action of `alter table`. If a
-- change is impossible, column loss is the reason, and sql is null. In a table with rows, the type of a column changes only if PostgreSQL converts the old type
-- implicitly, or if both types are geometries. PostgreSQL then checks each geometry.
with stated as (
  select
    a.attrelid,
    a.attname as name,
    a.attnum,
    format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as required,
    a.attgenerated <> '' as generated,
    pg_get_expr(d.adbin, d.adrelid) as initial
  from pg_attribute a
  left join pg_attrdef d on d.adrelid = a.attrelid
    and d.adnum = a.attnum
  where a.attrelid in (to_regclass($1), to_regclass($2))
    and a.attnum > 0
    and not a.attisdropped
),
held as (
  select
    exists (
      select
      from :"table"
    ) as rows
),
compared as (
  select
    coalesce(w.name, b.name) as name,
    w.attnum,
    b.attnum as was_attnum,
    w.type,
    w.required,
    w.generated,
    w.initial,
    held.rows,
    b.type as was,
    case
      when w.name is null then 'gone'
      when b.name is null then 'new'
      when w.generated <> b.generated or (w.generated and w.initial is distinct from b.initial) then 'computed'
      else 'kept'
    end as state,
    w.required <> b.required as frees_values,
    w.initial is distinct from b.initial as begins_otherwise,
    b.type like 'geometry%' and w.type like 'geometry%' or exists (
      select
      from pg_cast
      where castsource = to_regtype(b.type)
        and casttarget = to_regtype(w.type)
        and castcontext = 'i'
    ) as widens
  from (
    select *
    from stated
    where attrelid = to_regclass($2)
  ) w
  full join (
    select *
    from stated
    where attrelid = to_regclass($1)
  ) b on b.name = w.name
  cross join held
)
select
  change.loss,
  change.sql,
  change.note,
  change.frees
from compared c
cross join lateral (
  values
    (1, state = 'new' and required and initial is null and rows, format('column %s is new and may not be empty', name), null, null, false),
    (
      2,
      state = 'new' and not (required and initial is null and rows),
      null,
      format('add column %I %s', name, type)
        || case when initial is null then '' when generated then format(' generated always as (%s) stored', initial) else format(' default %s', initial) end
        || case when required then ' not null' else '' end,
      format('column %s added%s', name, case when initial is null then ', empty' end),
      false
    ),
    (3, state = 'computed', format('column %s has a different generation expression', name), null, null, false),
    (4, state = 'kept' and type <> was and rows and not widens, format('column %s is %s, should be %s', name, was, type), null, null, false),
    (
      5,
      state = 'kept' and type <> was and (widens or not rows),
      null,
      format('alter column %I type %s', name, type) || case when rows then '' else format(' using %I::text::%s', name, type) end,
      format('column %s made %s', name, type),
      true
    ),
    (
      6,
      state = 'kept' and begins_otherwise,
      null,
      format('alter column %I %s', name, coalesce('set default ' || initial, 'drop default')),
      format('column %s has %s by default', name, coalesce(initial, 'no value')),
      false
    ),
    (
      7,
      state = 'kept' and frees_values,
      null,
      format('alter column %I %s not null', name, case when required then 'set' else 'drop' end),
      format('column %s may %sbe empty', name, case when required then 'not ' end),
      false
    ),
    (8, state = 'gone', null, format('drop column %I', name), format('column %s dropped', name), true)
) as change (turn, applies, loss, sql, note, frees)
where change.applies
order by c.attnum nulls last, c.was_attnum, change.turn

-- statement: constraints
select
  conname as name,
  pg_get_constraintdef(oid) as definition
from pg_constraint
where conrelid = to_regclass($1)
  and contype in ('p', 'u', 'c')

-- statement: plain_indexes
-- Lists the indexes that belong to no constraint. The definitions omit the names of index and table, because these names differ between equal indexes.
select
  i.relname as name,
  regexp_replace(pg_get_indexdef(i.oid), '^CREATE (UNIQUE )?INDEX .*? ON (ONLY )?.*? USING', 'CREATE \1INDEX ON USING') as definition
from pg_index x
join pg_class i on i.oid = x.indexrelid
where x.indrelid = to_regclass($1)
  and not exists (
    select
    from pg_constraint c
    where c.conindid = i.oid
  )

-- statement: previous_tables
-- Lists the tables of previous publications. If the rows of a table were replaced in place, the table has the name of an earlier partition (held_in), and the
-- replaced rows are in a separate table.
select distinct
  t.relation,
  n.name as partition
from ledger.publication_table t
join ledger.publication p using (publication_id)
cross join lateral (
  values
    (coalesce(t.held_in, t.partition)),
    (t.partition || '_rows')
) n (name)
where p.state = 'previous'
  and to_regclass('previous.' || quote_ident(n.name)) is not null
order by 1, 2
