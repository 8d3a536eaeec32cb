-- purpose: the functions of a record once more for each region, over its own tables alone
-- reads: none
-- writes: none
-- grain: one schema per region that is published
-- crs: none

-- A statement over a table by region locks all its partitions before it knows which of them it needs: with twenty regions a record would hold more than a
-- thousand locks, and half of its time would go into them.

-- statement: dispatch
create or replace function api.region_record(p_fid int4, p_include text[], p_licensed bool) returns text
language plpgsql volatile as $$
declare
  v_region constant int4 := core.region_of(p_fid);
begin
  -- What is read is looked up when no swap can come between any more.
  perform api.hold_publication();
  if to_regnamespace('region_' || v_region) is null then
    return api.parcel_record(p_fid, p_include, p_licensed);
  end if;
  -- Named one by one: what is put together at run time is planned anew at every call.
  case v_region
    :"regions"
  end case;
end
$$;
comment on function api.region_record(int4, text[], bool) is 'As api.parcel_record, by the functions of the parcel''s region where it has its own';

-- statement: region
when :'code' then return :"schema".parcel_record(p_fid, p_include, p_licensed);

-- statement: made
select n.nspname as name
from pg_namespace n
where n.nspname = any ($1)
order by n.nspname

-- statement: begin
create schema :"schema";
comment on schema :"schema" is :'description';

-- statement: end
drop schema if exists :"schema" cascade

-- statement: view
-- Its columns in the order of the whole table, of which they are rows.
create or replace view :"view" as
select :"columns"
from :"from";
comment on view :"view" is :'description'
