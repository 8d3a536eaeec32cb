-- purpose: one schema of views per region, from which the records of the region are read
-- reads: none
-- writes: none
-- grain: one schema per published region
-- crs: none

-- A query on a table partitioned by region locks the partitions of all regions before it selects one. Without these views, the query for one record would hold
-- more than a thousand locks if twenty regions are loaded, and would take twice as long.

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
-- The columns are in the same order as in the partitioned table, because functions read the rows as rows of that table.
create or replace view :"view" as
select :"columns"
from :"from";
comment on view :"view" is :'description'
