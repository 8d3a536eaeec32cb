-- purpose: removal of the statistics of geometry columns from an embedded database
-- reads: none
-- writes: none
-- grain: one row per database or per geometry column
-- crs: none

-- statement: collects_geometry_statistics
select exists (
  select
  from pg_type
  where typname = 'geometry'
    and typanalyze <> 0
) as collects

-- statement: collect_no_geometry_statistics
alter type geometry set (analyze = none)

-- statement: clear_geometry_statistics
select pg_clear_attribute_stats(s.schemaname::text, s.tablename::text, s.attname::text, s.inherited)
from pg_stats s
join pg_attribute a
  on a.attrelid = format('%I.%I', s.schemaname, s.tablename)::regclass
  and a.attname = s.attname
join pg_type t on t.oid = a.atttypid
where t.typname = 'geometry'
