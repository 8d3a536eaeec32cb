-- purpose: the parcels whose rows an incremental build makes, the rows that it replaces, and the rows of reused members
-- reads: ledger.member
-- writes: none
-- grain: a table of a workspace, or the one row of a query
-- crs: EPSG:4326, longitude latitude in degrees

-- statement: members
insert into :"schema".:"layer" (release_id, member_id, :"columns")
select
  $1,
  m.member_id,
  :"l.columns"
from :"from" l
join unnest($2::int4[], $3::int4[], $4::int4[]) as m (member_id, from_member_id, from_release_id) on m.from_release_id = l.release_id
  and m.from_member_id = l.member_id
where l.release_id = any ($4::int4[])

-- statement: counted_members
select
  member_id,
  count(*) as rows
from :"table"
group by member_id

-- statement: in_current_files
-- The current files must contain all rows of the member, and no others.
join (:"counted") i on i.member_id = coalesce(n.row_member_id, n.member_id)
  and i.rows = p.rows

-- statement: pair_members
create table :"schema".copied_member as
select distinct
  o.member_id as was,
  coalesce(n.row_member_id, n.member_id) as now,
  coalesce(n.row_release_id, n.release_id) as release_id,
  p.rows
from (:"published") p
join ledger.member o on o.member_id = p.member_id
join ledger.member n on coalesce(n.taken_from, n.member_id) = coalesce(o.taken_from, o.member_id)
:"layer"
where n.release_id in (:'releases');
analyze :"schema".copied_member;

-- statement: paired_rows
select coalesce(sum(rows), 0)::int8 as rows
from :"schema".copied_member

-- statement: repeats_in_files
select
  (
    select count(distinct file_id)
    from :"schema".current_member
    where member_id in (
      select member_id
      from :"layer"
    )
  ) > 1 and exists (
    select
    from :"layer"
    group by hashtextextended(reference, 0)
    having count(*) > 1
  ) as repeats

-- statement: changed_fid
-- offset 0 makes PostgreSQL select the rows before it converts them to text.
create table :"schema".:"fids" as
select fid
from (
  select
    t.fid,
    row(:"t.columns")::text as content
  from (
    select *
    from :"was" r
    where not exists (
      select
      from :"schema".copied_member m
      where m.was = r.member_id
    )
    offset 0
  ) t
) w
full join (
  select
    t.fid,
    row(:"t.columns")::text as content
  from (
    select *
    from :"now" r
    where not exists (
      select
      from :"schema".copied_member m
      where m.now = r.member_id
    )
    offset 0
  ) t
) n using (fid)
where w.content is distinct from n.content;

-- statement: shapes
-- Shapes of the changed parcels, before and after.
(
  select geom
  from :"schema".changed_parcel
  union all
  select w.geom
  from :"was" w
  join :"schema".:"fids" using (fid)
)

-- statement: within
-- Parcels near the changed ones, found once by their boxes. A test per parcel would compare all with all.
create table :"schema".:"found" as
select distinct p.fid
from :"shapes" c
join :"was" p on p.geom && st_expand(c.geom, :'east', :'north');
analyze :"schema".:"found";

-- statement: sharing_fid
create table :"schema".:"fids" as
select fid
from :"schema".:"start"
union
select w.fid
from :"was" w
where :"w.column" in (
  select :"column"
  from :"schema".:"table"
  union
  select :"c.column"
  from :"was" c
  join :"schema".:"start" using (fid)
);

-- statement: with_others
create table :"schema".:"fids" as
select fid
from :"schema".changed_fid
:"others";

-- statement: or_fids_of
union
select fid
from :"table"

-- statement: features
select geom
from :"table"

-- statement: under
-- Parcels under the features that cover the changed parcels. The millions of features have no index, and changed parcels are few, so the index is created on
-- the parcels.
create table :"schema".:"shape" as
select geom
from :"shapes" c;
-- serves: features that cover a changed parcel
create index on :"schema".:"shape" using gist (geom);
analyze :"schema".:"shape";
create table :"schema".:"feature" as
select f.geom
from (:"features") f
where exists (
  select
  from :"schema".:"shape" s
  where s.geom && f.geom
);
analyze :"schema".:"feature";
create table :"schema".:"found" as
select distinct p.fid
from :"schema".:"feature" f
join :"was" p on p.geom && f.geom;
analyze :"schema".:"found";

-- statement: reached_fid
create table :"schema".:"fids" as
select fid
from :"schema".changed_fid
union
select fid
from :"schema".:"found";

-- statement: known_fids
alter table :"schema".:"fids" add primary key (fid);
analyze :"schema".:"fids";

-- statement: changed_parcel
select t.*
from :"now" t
join :"schema".changed_fid c using (fid)

-- statement: reached_parcel
select *
from :"schema".changed_parcel
union all
select p.*
from :"parcels" p
join :"schema".:"found" using (fid)
where not exists (
  select
  from :"schema".changed_fid c
  where c.fid = p.fid
)

-- statement: parcels
-- In the order and with the indexes that the SQL of sections relies on.
create table :"schema".:"table" as
select *
from (:"rows") q
order by geom;
alter table :"schema".:"table" add primary key (fid);
-- serves: spatial joins with features on a parcel
create index on :"schema".:"table" using gist (geom);
-- serves: spatial joins with features that contain a parcel's point
create index on :"schema".:"table" using gist (point);
analyze :"schema".:"table";

-- statement: only_reached
delete from :"schema".:"table" t
where not exists (
  select
  from :"schema".:"fids" c
  where c.fid = t.fid
);
analyze :"schema".:"table";

-- statement: moved_members
-- Unchanged rows of members whose rows moved to another release, with their new provenance.
insert into :"schema".:"table" (release_id, member_id, :"columns")
select
  m.release_id,
  m.now,
  :"t.columns"
from :"was" t
join :"schema".copied_member m on m.was = t.member_id
where m.was <> m.now

-- statement: reached_rows
select t.*
from :"was" t
join :"schema".:"fids" using (fid)

-- statement: rows_of_other_members
select t.*
from :"was" t
where not exists (
  select
  from :"schema".copied_member m
  where m.was = t.member_id
    and m.was = m.now
)

-- statement: patch
-- Parcels whose rows differ in any column. A parcel may have several rows.
create table :"schema".:"fids" as
with n as materialized (
  select
    t.fid,
    row(:"t.columns")::text as content
  from :"schema".:"table" t
),
w as materialized (
  select
    t.fid,
    row(:"t.columns")::text as content
  from (:"published") t
)
select fid
from (
  select *
  from n
  except all
  select *
  from w
) came
union
select fid
from (
  select *
  from w
  except all
  select *
  from n
) gone;
alter table :"schema".:"fids" add primary key (fid);
analyze :"schema".:"fids";
create view :"schema".:"gone" as
select t.*
from :"was" t
join :"schema".:"fids" using (fid);
create view :"schema".:"came" as
select t.*
from :"schema".:"table" t
join :"schema".:"fids" using (fid);

-- statement: patched_view
create view :"schema".:"table" as
select :"t.columns"
from :"was" t
where not exists (
  select
  from :"fids" c
  where c.fid = t.fid
)
union all
select :"columns"
from :"came";

-- statement: rows_of
select :"columns"
from :"from"

-- statement: read_instead
create or replace view :"view" as
select :"columns"
from :"schema".:"table";
