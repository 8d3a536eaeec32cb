-- purpose: what PostgreSQL knows of tables: columns, indexes, comments, sizes
-- reads: ledger.publication, ledger.publication_table
-- writes: none
-- grain: one row per thing asked for
-- crs: none

-- statement: relations
-- Views before tables, the later before the earlier: none that another one needs goes first.
select
  c.relname as name,
  c.relkind::text as kind
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relkind in ('r', 'v')
order by c.relkind desc, c.oid desc

-- statement: columns
select
  a.attname as name,
  format_type(a.atttypid, a.atttypmod) as type,
  a.attcollation::int8 as collation,
  a.attnotnull as required,
  a.attgenerated <> '' as generated,
  pg_get_expr(d.adbin, d.adrelid) as initial,
  exists (
    select
    from pg_index x
    where x.indrelid = a.attrelid
      and x.indisprimary
      and x.indnkeyatts = 1
      and x.indkey[0] = a.attnum
  ) as key
from pg_attribute a
left join pg_attrdef d on d.adrelid = a.attrelid
  and d.adnum = a.attnum
where a.attrelid = to_regclass($1)
  and a.attnum > 0
  and not a.attisdropped
order by a.attnum

-- statement: indexes
select
  i.relname as name,
  pg_get_indexdef(i.oid) as definition,
  pg_get_constraintdef(c.oid) as key
from pg_index x
join pg_class i on i.oid = x.indexrelid
left join pg_constraint c on c.conindid = i.oid
where x.indrelid = to_regclass($1)
order by i.oid

-- statement: constraints
select
  conname as name,
  pg_get_constraintdef(oid) as definition
from pg_constraint
where conrelid = to_regclass($1)
  and contype in ('p', 'u', 'c')

-- statement: plain_indexes
-- Without the names of index and table, which differ where the indexes are the same.
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

-- statement: widens
select exists (
  select
  from pg_cast
  where castsource = to_regtype($1)
    and casttarget = to_regtype($2)
    and castcontext = 'i'
) as there

-- statement: comments
select
  a.attname as column,
  d.description as text
from pg_description d
left join pg_attribute a on a.attrelid = d.objoid
  and a.attnum = d.objsubid
  and d.objsubid > 0
where d.objoid = to_regclass($1)
  and d.classoid = 'pg_class'::regclass

-- statement: comment_on_table
comment on table :"table" is :'text'

-- statement: comment_on_column
comment on column :"table".:"column" is :'text'

-- statement: layer_bytes
select
  substring(c.relname from '_([0-9]+)$')::int4 as release_id,
  sum(pg_total_relation_size(c.oid))::int8 as bytes
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'layer'
  and c.relkind = 'r'
  and c.relname ~ '_[0-9]+$'
group by 1

-- statement: published_bytes
select coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 as bytes
from ledger.publication p
join ledger.publication_table t using (publication_id)
join pg_class c on c.relname = t.partition
join pg_namespace n on n.oid = c.relnamespace
  and n.nspname = split_part(t.relation, '.', 1)
where p.unit_code = $1
  and p.state = 'current'

-- statement: previous_tables
select distinct
  t.relation,
  t.partition
from ledger.publication_table t
join ledger.publication p using (publication_id)
where p.state = 'previous'
  and to_regclass('previous.' || quote_ident(t.partition)) is not null
order by 1, 2
