-- purpose: properties of a server, its database and its roles; applied SQL files and loaded releases; creation of an empty schema api
-- reads: ledger.file, ledger.release
-- writes: ledger.applied_file
-- grain: one row
-- crs: none

-- statement: facts
select
  current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as standby,
  current_setting('transaction_read_only')::bool as "readOnly",
  current_setting('search_path') as "searchPath",
  current_setting('statement_timeout') as "statementTimeout",
  coalesce(
    (
      select jsonb_object_agg(e.extname, n.nspname)
      from pg_extension e
      join pg_namespace n on n.oid = e.extnamespace
      where e.extname in ('postgis', 'pg_trgm', 'unaccent', 'fuzzystrmatch')
    ),
    '{}'
  ) as extensions,
  (
    select pg_get_userbyid(n.nspowner)::text
    from pg_namespace n
    where n.nspname = 'ledger'
      and not has_schema_privilege(n.oid, 'usage')
      and not exists (
        select
        from pg_roles r
        where r.rolname = 'mappale_api'
          and pg_has_role(r.oid, 'member')
      )
  ) as owner

-- statement: backend
select pg_backend_pid() as pid

-- statement: apply_settings
select set_config(s.name, s.value, $3)
from unnest($1::text[], $2::text[]) s (name, value)

-- statement: engine
select
  (current_setting('server_version_num')::int4 / 10000)::text as "PostgreSQL",
  postgis_lib_version() as "PostGIS",
  postgis_geos_version() as "GEOS",
  postgis_proj_version() as "PROJ"

-- statement: folder
-- Returns the data folder of a server on this machine, or null if this role may not read the setting. Returns no row for a server on a different machine.
select case when pg_has_role(current_user, 'pg_read_all_settings', 'member') then current_setting('data_directory', true) end as folder
where coalesce(inet_server_addr() in ('127.0.0.1', '::1'), true)

-- statement: login
select
  coalesce(
    (
      select pg_has_role(r.oid, 'member')
      from pg_roles r
      where r.rolname = $1
    ),
    false
  ) as restricted,
  case
    when l.rolsuper then 'superuser'
    when exists (
      select
      from pg_namespace n
      where n.nspname in ('api', 'core', 'ledger', 'access')
        and pg_has_role(l.oid, n.nspowner, 'member')
    ) then 'owner'
    else 'ordinary'
  end as login,
  exists (
    select
    from pg_extension e
    where e.extname = 'citus'
  ) as citus,
  pg_backend_pid() as backend
from pg_roles l
where l.rolname = session_user

-- statement: rights
with role as (
  select oid
  from pg_roles
  where rolname = $1
)
select
  current_database() as database,
  exists (
    select
    from role
  ) as role,
  coalesce(
    (
      select has_schema_privilege(oid, 'api', 'usage')
      from role
    ),
    false
  ) as schema,
  array(
    select p.oid::regprocedure::text
    from pg_proc p
    where p.pronamespace = 'api'::regnamespace
      and p.prosecdef
      and not coalesce(
        (
          select has_function_privilege(role.oid, p.oid, 'execute')
          from role
        ),
        false
      )
    order by 1
  ) as functions,
  has_database_privilege('public', current_database(), 'temporary') as temporary,
  array(
    select p.oid::regprocedure::text
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname ~ '^lo(_|read$|write$)'
      and has_function_privilege('public', p.oid, 'execute')
    order by 1
  ) as "largeObjects"

-- statement: place
-- Returns the address of the server, the database and the role. A server on this machine is reported as localhost.
select
  case when coalesce(inet_server_addr() in ('127.0.0.1', '::1'), true) then 'localhost' else host(inet_server_addr()) end as host,
  coalesce(inet_server_port(), current_setting('port')::int4) as port,
  current_database()::text as database,
  current_user::text as "user"

-- statement: extensions
-- Returns the installed version of each given extension, or else the version that would be installed.
select
  name,
  coalesce(installed_version, default_version) as version,
  installed_version is not null as installed
from pg_available_extensions
where name = any ($1)

-- statement: applied_file
create schema if not exists ledger;
create table if not exists ledger.applied_file (
  file text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now(),
  version int4
);
alter table ledger.applied_file add column if not exists version int4;

-- statement: note_applied
insert into ledger.applied_file (file, sha256, version)
values ($1, $2, $3)
on conflict (file) do update
set
  sha256 = excluded.sha256,
  version = excluded.version,
  applied_at = now()

-- statement: former_layers
select distinct k.name
from ledger.release r
cross join lateral jsonb_object_keys(r.layers) as k (name)
where r.source_id = $1
  and jsonb_typeof(r.layers) = 'object'

-- statement: loaded_releases
select
  vintage,
  region_code::int4 as region,
  coalesce(rows, 0) as rows
from ledger.release
where source_id = $1
  and state = 'loaded'
order by vintage, region_code

-- statement: read_files
select distinct f.path
from ledger.file f
join ledger.release r using (release_id)
where r.source_id = $1
  and r.state = 'loaded'
order by 1

-- statement: new_interface
-- Replaces the schema api by an empty schema. All functions are created again later, because their arguments and results may have changed.
drop schema if exists api cascade;
create schema api;
comment on schema api is 'Functions of the server. The server''s role may execute no other functions of mappale';

-- statement: versions
select current_setting('server_version') || ', PostGIS ' || postgis_lib_version() as version

-- statement: is_read_only
select current_setting('transaction_read_only')::bool as "readOnly"
