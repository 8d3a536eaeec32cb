-- purpose: distribution of parcels and sections over several nodes (Citus)
-- reads: core.parcel, core.parcel_register
-- writes: core.parcel_register
-- grain: one row per table, shard or command
-- crs: EPSG:4326, longitude and latitude in degrees

-- statement: has_citus
select to_regclass('pg_catalog.pg_dist_partition') is not null as there

-- statement: is_distributed
select exists (
  select
  from pg_dist_partition
  where logicalrelid = to_regclass($1)
) as there

-- statement: workers
select count(*) as n
from pg_dist_node
where isactive
  and shouldhaveshards

-- statement: in_turn
-- Uses one connection per node for all tables of a transaction. Citus can attach partitions and move them to a different schema only in this mode.
select set_config('citus.multi_shard_modify_mode', 'sequential', true)

-- statement: not_distributed
-- Lists the tables keyed by fid that are not distributed yet, with the table of parcels first. Partitioned tables are found by their partition key. Tables of
-- previous publications follow, because a rollback may restore them.
select t.relation::regclass::text as name
from (
  select
    p.partrelid as relation,
    0 as turn
  from pg_partitioned_table p
  where pg_get_partkeydef(p.partrelid) = 'RANGE (fid)'
  union all
  select
    c.oid,
    1
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
    and n.nspname = 'previous'
  join pg_attribute a on a.attrelid = c.oid
    and a.attname = 'fid'
    and not a.attisdropped
  where c.relkind = 'r'
) t
where not exists (
  select
  from pg_dist_partition d
  where d.logicalrelid = t.relation
)
order by t.turn, t.relation <> 'core.parcel'::regclass, t.relation

-- statement: distribute_parcels
select create_distributed_table('core.parcel', 'fid')

-- statement: distribute
select create_distributed_table($1::regclass, 'fid', colocate_with => 'core.parcel')

-- statement: is_superuser
select rolsuper as super
from pg_roles
where rolname = current_user

-- statement: restrict
-- Revokes the right to run commands on the workers, which every role has by default. Only the loading role needs this right. Returns the errors of the nodes on
-- which this failed.
select
  coalesce(n.nodename || ':' || n.nodeport, ran.nodeid::text) as node,
  ran.result
from run_command_on_all_nodes($restrict$
  do $$
  declare
    v_function regprocedure;
  begin
    for v_function in
      select p.oid
      from pg_proc p
      where p.pronamespace = 'pg_catalog'::regnamespace
        and p.proname ~ '^(run_command_on_|master_run_on_worker)'
    loop
      execute format('revoke execute on function %s from public', v_function);
    end loop;
  end
  $$
$restrict$) as ran
left join pg_dist_node n using (nodeid)
where not ran.success

-- statement: role_on_workers
-- Creates the server's role (mappale_api) on the workers that lack the role, and returns the workers on which this failed. If this node lacks the role and the
-- loading role may not create roles, failures are ignored.
select
  nodename || ':' || nodeport as node,
  ran.result
from run_command_on_workers($role$
  do $$
  begin
    perform set_config('citus.enable_ddl_propagation', 'off', true);
    if not exists (select from pg_roles where rolname = 'mappale_api') then
      create role mappale_api nologin;
    end if;
  exception
    -- Two databases of one server may create the role at the same time.
    when duplicate_object or unique_violation then null;
  end
  $$
$role$) as ran
where not ran.success
  and exists (
    select
    from pg_roles r
    where r.rolname = 'mappale_api'
      or (r.rolname = current_user and (r.rolsuper or r.rolcreaterole))
  )

-- statement: local_rows
-- Lists the partitions of a table that still contain rows on this node from before the distribution. Readers no longer see these rows.
select relid::regclass::text as name
from pg_partition_tree($1::regclass)
where isleaf
  and pg_relation_size(relid) > 0

-- statement: drop_local_rows
select truncate_local_data_after_distributing_table($1::regclass)

-- statement: copy_at_hand
create unlogged table :"to" (like :"from" including all);
insert into :"to"
select *
from :"from" t
:"among";
analyze :"to"

-- statement: of_parcels
where t.fid in (
  select p.fid
  from :"schema".parcel p
)

-- statement: of_none
where false

-- statement: is_there
select to_regclass($1) is not null as there

-- statement: make_distributed
create table :"to" (like :"parent" including all);
select create_distributed_table(:'name', 'fid', colocate_with => 'core.parcel')

-- statement: make_reference
create table :"to" (like :"parent" including all);
select create_reference_table(:'name')

-- statement: fill
insert into :"to" (:"columns")
select :"t.columns"
from :"from" t

-- statement: bound
alter table :"table" add constraint bound check (:"check")

-- statement: copy_of
create table :"to" (like :"parent" including all);
insert into :"to"
select *
from :"from"

-- statement: shards
-- Returns the matching shards of the given tables, by the name of the first table's shard. Shards of tables keyed by fid match if they have the same range. A
-- reference table has only one shard.
with shard as (
  select
    d.logicalrelid,
    shard_name(d.logicalrelid, d.shardid) as name,
    d.shardminvalue
  from pg_dist_shard d
)
select jsonb_object_agg(f.name, f.tables) as shards
from (
  select
    p.name,
    (
      select jsonb_object_agg(t.seen_as, s.name)
      from unnest($2::text[], $3::text[]) as t (seen_as, relation)
      join shard s on s.logicalrelid = t.relation::regclass
        and (s.shardminvalue is null or s.shardminvalue = p.shardminvalue)
    ) as tables
  from shard p
  where p.logicalrelid = $1::regclass
) f

-- statement: run
select
  c.success,
  c.result,
  p.nodename || ':' || p.nodeport as node
from run_command_on_shards($1::regclass, $2) c
left join pg_dist_shard_placement p on p.shardid = c.shardid
order by c.success, c.shardid

-- statement: on_shard
-- Runs an unchanged SQL file, with the usual table names for the tables of one shard. The file creates its tables in a schema of this session, which is dropped
-- at the end. The result is inserted into the shard.
do $on_shard$
declare
  v_schema constant text := 'shard_' || pg_backend_pid();
  v_table record;
begin
  perform
    set_config('search_path', v_schema || ', public', true),
    set_config('work_mem', '256MB', true),
    set_config('jit', 'off', true),
    -- The shards of a node already run at the same time.
    set_config('max_parallel_workers_per_gather', '0', true),
    set_config('client_min_messages', 'warning', true),
    set_config('citus.enable_ddl_propagation', 'off', true),
    set_config('citus.enable_manual_changes_to_shards', 'on', true);
  execute format('create schema %I', v_schema);
  for v_table in
    select
      key as seen_as,
      value as name
    from jsonb_each_text((:'shards')::jsonb -> :'shard')
  loop
    if v_table.seen_as <> :'into' then
      execute format('create view %I as select * from %s', v_table.seen_as, v_table.name);
    end if;
  end loop;
  execute :'script';
  for v_table in
    select
      value as name
    from jsonb_each_text((:'shards')::jsonb -> :'shard')
    where key = :'into'
  loop
    execute format('insert into %s (%s) select %s from %I.%I', v_table.name, :'columns', :'columns', v_schema, :'made');
  end loop;
  execute format('drop schema %I cascade', v_schema);
end
$on_shard$

-- statement: come_back
-- Reads the parcels from the nodes first, because an update of a local table cannot join distributed tables.
create temporary table came_back on commit drop as
select p.fid
from :"now" p
where p.fid in (
  select r.fid
  from core.parcel_register r
  where r.region_code = :'region'
    and r.retired_on is not null
);
update core.parcel_register r
set
  retired_on = null,
  drawing = null,
  point = null,
  successor_fid = null
from came_back c
where r.region_code = :'region'
  and r.retired_on is not null
  and r.fid = c.fid

-- statement: retire
create temporary table leaver on commit drop as
select
  w.fid,
  core.drawing(w.geom) as drawing,
  w.point
from :"leaving" w
left join :"now" n on n.fid = w.fid
where n.fid is null;
update core.parcel_register r
set
  retired_on = (now() at time zone 'Europe/Rome')::date,
  drawing = w.drawing,
  point = w.point
from leaver w
where r.region_code = :'region'
  and r.fid = w.fid

-- statement: grounds
create temporary table on_ground (
  region_code int2 not null,
  reference text not null
) on commit drop;
create temporary table standing (
  region_code int2 not null,
  reference text not null,
  fid int4 not null
) on commit drop

-- statement: on_ground
-- Selects retired parcels at whose location a parcel was added or removed.
insert into on_ground
select distinct
  r.region_code,
  r.reference
from (
  select
    region_code,
    reference,
    point
  from core.parcel_register
  where point is not null
  offset 0
) r
join :"table" p on p.geom && r.point
:"unless"

-- statement: unless
left join :"other" o on o.fid = p.fid
where o.fid is null

-- statement: standing
-- Selects current parcels with the same geometry as a retired parcel.
insert into standing
select
  r.region_code,
  r.reference,
  s.fid
from (
  select
    region_code,
    reference,
    point,
    drawing
  from core.parcel_register
  where (region_code, reference) in (
    select
      region_code,
      reference
    from on_ground
  )
  offset 0
) r
join :"table" s on s.geom && r.point
  and core.drawing(s.geom) = r.drawing
:"but"

-- statement: but_region
where s.fid < :'from'
  or s.fid >= :'until'

-- statement: name_successors
update core.parcel_register r
set successor_fid = f.fid
from (
  select
    g.region_code,
    g.reference,
    case when count(distinct s.fid) = 1 then min(s.fid) end as fid
  from on_ground g
  left join standing s using (region_code, reference)
  group by g.region_code, g.reference
) f
where r.region_code = f.region_code
  and r.reference = f.reference
  and r.successor_fid is distinct from f.fid
