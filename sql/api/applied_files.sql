-- purpose: the SQL files applied to the database, for a server whose role may not read tables
-- reads: ledger.applied_file
-- writes: api.applied_files
-- grain: one call per start of a server
-- crs: none

create or replace function api.applied_files(out applied jsonb)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select jsonb_object_agg(a.file, jsonb_build_object('digest', a.sha256, 'version', a.version))
  from ledger.applied_file a
$$;
comment on function api.applied_files() is 'Applied SQL files, each with its digest and, for a layer, the version of its source';
