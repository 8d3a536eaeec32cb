-- purpose: what the server's role may execute, and what no other role gives it; the last of the files of api
-- reads: none
-- writes: none
-- grain: none
-- crs: none

-- Functions that work with their owner's rights are the interface; the others are parts of them and of no use to whoever may read no table.
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

-- Every role of a server may make temporary tables and large objects until it is told otherwise; here nobody needs either. The owner of the database
-- may take the first away, a superuser the second: what is left to do, doctor says.
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
