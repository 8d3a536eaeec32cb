-- purpose: views of the tables of each region, for reading its records
-- reads: none
-- writes: none
-- grain: one schema per published region
-- crs: none

-- A statement over a table partitioned by region locks all partitions before it selects one. With twenty regions a record would hold more than a thousand locks
-- and spend half of its time on them.

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
-- Columns are in the order of the partitioned table, because the rows are read as rows of this table.
create or replace view :"view" as
select :"columns"
from :"from";
comment on view :"view" is :'description'
