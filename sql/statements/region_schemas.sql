-- purpose: a copy of the record functions for each region, over the region's own tables
-- reads: none
-- writes: none
-- grain: one schema per published region
-- crs: none

-- A statement over a table partitioned by region locks all partitions before it knows which of them it needs. With twenty regions a record would hold more than a
-- thousand locks and spend half of its time on them.

-- statement: dispatch
create or replace function api.region_record(p_fid int4, p_include text[], out head text, out citations uuid[])
language plpgsql volatile as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_parts record;
begin
  -- The schema is looked up when no swap can happen in between.
  perform api.hold_publication();
  if to_regnamespace('region_' || v_region) is null then
    v_parts := api.parcel_record(p_fid, p_include);
  else
    -- Listed one by one: a statement composed at run time is planned again at every call.
    case v_region
      :"regions"
    end case;
  end if;
  head := v_parts.head;
  citations := v_parts.citations;
end
$$;
comment on function api.region_record(int4, text[]) is 'As api.parcel_record, with the functions of the parcel''s region if the region has its own';

-- statement: region
when :'code' then v_parts := :"schema".parcel_record(p_fid, p_include);

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
-- Columns in the order of the whole table, because the rows are read as rows of that table.
create or replace view :"view" as
select :"columns"
from :"from";
comment on view :"view" is :'description'
