-- purpose: what the server's role may execute; the last of the files of api
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
