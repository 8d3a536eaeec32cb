-- purpose: objects of the database, for comparison with the objects that this version expects
-- reads: ledger.publication, ledger.publication_table
-- writes: none
-- grain: one row per object
-- crs: none

-- statement: objects
-- Reads only the system catalogue, which every role may read. All definitions are the same on every version of PostgreSQL. Regional schemas have the name
-- `region_N` here.
with role as (
  select oid
  from pg_roles
  where rolname = 'mappale_api'
),
place as (
  select
    oid,
    nspname as name,
    case when nspname ~ '^region_[0-9]+$' then 'region_N' else nspname end as shown
  from pg_namespace
  where nspname in ('access', 'api', 'core', 'history', 'layer', 'ledger', 'past', 'previous', 'section')
    or nspname ~ '^region_[0-9]+$'
),
relation as (
  select
    c.oid,
    c.relkind,
    p.name as schema,
    p.shown || '.' || c.relname as name
  from pg_class c
  join place p on p.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v')
    and not c.relispartition
    and p.name <> 'previous'
),
routine as (
  select
    f.*,
    p.name as schema,
    -- Removes comments and blanks from the body, because a file in which only comments or layout changed is not applied again. `translate` takes a tenth of
    -- the time of regular expressions, and every command that writes reads these bodies.
    translate(regexp_replace(f.prosrc, '--[^\n]*', '', 'g'), E' \n\t\r', '') as body,
    format('%s.%s(%s)', p.name, f.proname, oidvectortypes(f.proargtypes)) as name
  from pg_proc f
  join place p on p.oid = f.pronamespace
)
select
  p.name::text as schema,
  'schema' as kind,
  p.shown::text as name,
  '' as definition
from place p
union all
select
  '',
  'extension',
  extname,
  ''
from pg_extension
where extname in ('postgis', 'pg_trgm', 'unaccent', 'fuzzystrmatch')
union all
select
  r.schema,
  case r.relkind when 'v' then 'view' else 'table' end,
  r.name,
  case when r.relkind = 'v' then (
    -- Replaces each partition that a view reads by its partitioned table.
    select string_agg(distinct coalesce(i.inhparent, d.refobjid)::regclass::text, ', ')
    from pg_rewrite w
    join pg_depend d on d.classid = 'pg_rewrite'::regclass
      and d.objid = w.oid
      and d.refclassid = 'pg_class'::regclass
      and d.refobjid <> r.oid
    left join pg_inherits i on i.inhrelid = d.refobjid
    where w.ev_class = r.oid
  ) else coalesce(pg_get_partkeydef(r.oid), '') end
from relation r
union all
select
  r.schema,
  'column',
  r.name || '.' || a.attname,
  concat_ws(
    ' ',
    format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then 'not null' end,
    case when a.attidentity <> '' then 'identity' end,
    'default ' || pg_get_expr(d.adbin, d.adrelid)
  )
from relation r
join pg_attribute a on a.attrelid = r.oid
left join pg_attrdef d on d.adrelid = a.attrelid
  and d.adnum = a.attnum
where a.attnum > 0
  and not a.attisdropped
union all
select
  r.schema,
  'constraint',
  r.name || ' ' || pg_get_constraintdef(c.oid),
  case when not c.convalidated then 'not valid' else '' end
from relation r
join pg_constraint c on c.conrelid = r.oid
where c.contype in ('c', 'f', 'p', 'u', 'x')
  and c.conparentid = 0
union all
select
  r.schema,
  'index',
  r.name || regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE( UNIQUE)? INDEX .* ON (?:ONLY )?\S+ (USING .*)$', '\1 \2'),
  case when not x.indisvalid then 'not valid' else '' end
from relation r
join pg_index x on x.indrelid = r.oid
where not exists (
  select
  from pg_constraint c
  where c.conindid = x.indexrelid
    and c.conrelid = r.oid
)
union all
select
  f.schema,
  'function',
  f.name,
  left(
    encode(
      sha256(
        convert_to(
          concat_ws(
            '|',
            replace(pg_get_function_arguments(f.oid), f.schema || '.', ''),
            replace(pg_get_function_result(f.oid), f.schema || '.', ''),
            (select l.lanname from pg_language l where l.oid = f.prolang),
            f.provolatile,
            f.proparallel,
            f.proisstrict,
            f.prosecdef,
            f.proretset,
            f.prorows,
            f.proconfig,
            f.body
          ),
          'utf8'
        )
      ),
      'hex'
    ),
    16
  )
from routine f
union all
-- If the role does not exist, its missing rights are not reported.
select
  f.schema,
  'grant',
  f.name,
  concat_ws(
    ', ',
    case when has_function_privilege('public', f.oid, 'execute') then 'public' end,
    case when coalesce((select has_function_privilege(r.oid, f.oid, 'execute') from role r), f.prosecdef) then 'mappale_api' end
  )
from routine f
where f.schema = 'api'
union all
select
  p.name,
  'grant',
  p.shown,
  case when coalesce((select has_schema_privilege(r.oid, p.oid, 'usage') from role r), true) then 'mappale_api' else '' end
from place p
where p.name = 'api'

-- statement: objects_as_one
select jsonb_agg(to_jsonb(o)) as found
from (:"objects") o

-- statement: regions
-- Returns the first fid of each region with published parcels, from the bounds of the partitions.
select substring(pg_get_expr(c.relpartbound, c.oid) from '\(''?(\d+)')::int4 as fid
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = to_regclass('core.parcel')
order by fid

-- statement: make_index
create :"unique" index on :"table" :"using"

-- statement: drop_invalid
select format('drop index %s', x.indexrelid::regclass) as sql
from pg_index x
where x.indrelid = to_regclass($1)
  and not x.indisvalid

-- statement: validate
select format('alter table %s validate constraint %I', c.conrelid::regclass, c.conname) as sql
from pg_constraint c
where c.conrelid = to_regclass($1)
  and not c.convalidated

-- statement: add_constraint
alter table :"table" add :"definition"

-- statement: lost_partitions
-- Lists published partitions of regions, if the partition does not exist or is not attached to its partitioned table.
select
  t.relation,
  t.partition
from ledger.publication_table t
join ledger.publication p using (publication_id)
where p.state = 'current'
  and p.unit_code > 0
  and not exists (
    select
    from pg_inherits i
    where i.inhrelid = to_regclass(quote_ident(split_part(t.relation, '.', 1)) || '.' || quote_ident(coalesce(t.held_in, t.partition)))
      and i.inhparent = to_regclass(t.relation)
  )
order by t.relation, t.partition
