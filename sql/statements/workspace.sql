-- purpose: views and tables of a workspace: current layers, files, parcels and regions
-- reads: ledger.file, ledger.member, ledger.file_place, layer.comune_code
-- writes: ledger.file_place
-- grain: one row per file, member or comune
-- crs: none

-- statement: settings
set search_path to :"schemas";
set work_mem to :'sorting';
set maintenance_work_mem to :'indexing';
set client_min_messages to 'warning';

-- statement: view
create view :"schema".:"view" as
:"rows"

-- statement: rows
create table :"schema".:"view" as
:"rows"

-- statement: no_rows
select *
from :"from"
where false

-- statement: all_rows
select *
from :"from"

-- statement: rows_of_releases
select l.*
from :"from" l
where l.release_id in (:'releases')

-- statement: rows_of_files
select l.*
from :"from" l
where l.release_id in (:'releases')
  and l.member_id in (
    select m.member_id
    from :"schema".current_member m
    where m.file_id in (:'files')
  )

-- statement: rows_of_places
select l.*
from :"from" l
join :"schema".current_member m on m.member_id = l.member_id
where l.release_id in (:'releases')
  and exists (
    select
    from :"schema".current_place p
    where p.layer = :'layer'
      and p.file_id = m.file_id
      and p.series = concat_ws(' ', :"l.series")
      and p.place = coalesce(:"l.place", '')
  )

-- statement: rows_with_referred
select :"columns"
from :"own"
union all
select :"l.columns"
from :"from" l
where l.release_id in (:'releases')
  and l.member_id in (:'members')

-- statement: note_places
insert into :"schema".current_place (layer, file_id, series, place)
select
  $1,
  *
from unnest($2::int4[], $3::text[], $4::text[])

-- statement: analyze_places
-- Without statistics, PostgreSQL expects few places and few rows of the layer. It then reads a national layer again for each row that it joins.
analyze :"schema".current_place

-- statement: some_parcels
select *
from :"from"
where fid = any (array[:'fids']::int4[])

-- statement: rows_of_some_parcels
select t.*
from :"from" t
where t.fid in (
  select fid
  from :"parcels"
)

-- statement: parcels_of_comuni
select *
from :"from"
where belfiore in (
  select belfiore
  from :"from"
  where fid = any (array[:'fids']::int4[])
)

-- statement: region
select
  :'code'::int2 as code,
  :'name'::text as name

-- statement: current_files
drop table if exists :"schema".current_place cascade;
drop table if exists :"schema".current_file cascade;
drop table if exists :"schema".current_member cascade;
create table :"schema".current_place (
  layer text not null,
  file_id int4 not null,
  series text not null,
  place text not null
);
create table :"schema".current_file (
  file_id int4 not null,
  rank int4 not null,
  vintage text not null
);
create view :"schema".file_place as
select p.*
from ledger.file_place p
join :"schema".current_file f using (file_id);

-- statement: note_files
insert into :"schema".current_file
select *
from unnest($1::int4[], $2::int4[], $3::text[])

-- statement: current_members
-- Maps each member that a row of a layer names to the current member with the same bytes. If two current files contain the member, the newer file is used.
create table :"schema".current_member as
select distinct on (1)
  coalesce(m.row_member_id, m.member_id) as member_id,
  m.member_id as current_member_id,
  coalesce(m.document_id, m.member_id) as document_id,
  m.release_id,
  m.file_id,
  f.rank,
  f.vintage,
  l.may_be_cut
from ledger.member m
join :"schema".current_file f using (file_id)
join ledger.file l using (file_id)
order by
  1,
  f.rank,
  m.member_id desc;
alter table :"schema".current_member add primary key (member_id);
analyze :"schema".current_member;

-- statement: note_whole_files
insert into ledger.file_place (file_id, layer, series, named, places)
select distinct
  m.file_id,
  $1,
  '',
  true,
  array['']
from (
  select distinct member_id
  from :"schema".:"layer"
) l
join ledger.member m on coalesce(m.row_member_id, m.member_id) = l.member_id
  and m.release_id = $2

-- statement: note_layer_places
-- Records the places that a layer names, such as comuni. The source of the layer declares the columns that are read. An undeclared column is read as null.
insert into ledger.file_place (file_id, layer, series, region_code, likely_region_code, dated, named, places)
select
  file_id,
  $1,
  series,
  region_code,
  likely_region_code,
  dated,
  true,
  array_agg(place order by place collate "C")
from (
  select
    m.file_id,
    concat_ws(' ', :"l.series") as series,
    coalesce(l.:"place", '') as place,
    min((:"l.region")::int2) as region_code,
    min(coalesce((:"l.likely_region")::int2, core.region_of_istat_code(:"l.istat_code"))) as likely_region_code,
    max((:"l.dated")::date)::text as dated
  from :"schema".:"layer" l
  join :"schema".member m using (member_id)
  group by 1, 2, 3
) found
group by file_id, series, region_code, likely_region_code, dated

-- statement: repeating_members
-- Returns the members with a record that occurs more than once in their file. Only members that were read can repeat a record, because the other members were
-- compared with each other when an earlier release was loaded. The query first finds the rows with the records of the members that were read. The planner
-- cannot estimate the cost of a join with all members.
with hit as materialized (
  select
    l.member_id,
    :"l.columns"
  from :"schema".:"layer" l
  where (:"l.columns") in (
      select :"columns"
      from :"own".:"layer"
    )
    :"in_groups"
)
select distinct member_id as id
from (
  select
    h.member_id,
    count(*) over (partition by m.file_id, :"h.columns") as rows
  from hit h
  join :"schema".member m using (member_id)
) counted
where rows > 1

-- statement: in_same_groups
-- The members are in an array, because PostgreSQL then finds the rows of the members with the index on member_id.
and l.member_id = any (
  array(
    select g.member_id
    from :"schema".:"groups" g
    where (:"g.columns") in (
      select :"columns"
      from :"own".:"groups"
    )
  )
)

-- statement: listed_regions
select
  c.belfiore,
  c.region_code::int4 as region
from layer.comune_code c
join ledger.member m on coalesce(m.row_member_id, m.member_id) = c.member_id
where m.file_id = any ($1::int4[])
order by c.belfiore

-- statement: count_by_member
select
  member_id,
  count(*) as n,
  count(distinct position) as distinct_n
from :"table"
group by member_id
order by member_id
