-- purpose: grants to the server's role, and revocation of rights from PUBLIC; runs after all other files of api
-- reads: none
-- writes: none
-- grain: none
-- crs: none

-- Grants execution of the security definer functions, which are the interface of the server. All other functions read tables with the rights of the caller, and
-- the server's role may not read tables.
do $$
declare
  v_function regprocedure;
begin
  revoke execute on all functions in schema api from public;
  if exists (select from pg_roles where rolname = 'mappale_api') then
    grant usage on schema api to mappale_api;
    for v_function in
      select p.oid
      from pg_proc p
      where p.pronamespace = 'api'::regnamespace
        and p.prosecdef
    loop
      execute format('grant execute on function %s to mappale_api', v_function);
    end loop;
  end if;
end
$$;

-- By default, every role of a PostgreSQL server may create temporary tables and large objects. In this database, other roles need neither. The owner of the
-- database may revoke the right to create temporary tables, and a superuser the right to create large objects. `doctor` reports rights that this file could not
-- revoke.
do $$
declare
  v_function regprocedure;
begin
  begin
    execute format('revoke temporary on database %I from public', current_database());
  exception
    when insufficient_privilege then null;
  end;
  if (select r.rolsuper from pg_roles r where r.rolname = current_user) then
    for v_function in
      select p.oid
      from pg_proc p
      where p.pronamespace = 'pg_catalog'::regnamespace
        and p.proname ~ '^lo(_|read$|write$)'
    loop
      execute format('revoke execute on function %s from public', v_function);
    end loop;
  end if;
end
$$;
