-- purpose: parcels whose rows an incremental build computes, rows to replace, and rows of reused members
-- reads: ledger.member, ledger.publication, ledger.publication_file
-- writes: none
-- grain: one row per member, or per parcel
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

-- statement: same_documents
-- Lists the documents whose bytes are equal in the published and in the current files, and which have as many current rows as published rows.
create unlogged table :"schema".same_document as
with published as (
  select
    document_id,
    count(*) as rows
  from :"was"
  group by document_id
),
present as (
  select
    m.document_id,
    sum(c.rows) as rows
  from (:"counted") c
  join :"build".current_member m using (member_id)
  group by m.document_id
),
document as (
  select
    coalesce(m.document_id, m.member_id) as document_id,
    coalesce(m.taken_from, m.member_id) as read_as,
    true as is_published
  from ledger.publication p
  join ledger.publication_file f using (publication_id)
  join ledger.member m using (file_id)
  where p.unit_code = :'region'
    and p.state = 'current'
  union all
  select
    c.document_id,
    coalesce(m.taken_from, m.member_id),
    false
  from :"build".current_member c
  join ledger.member m on m.member_id = c.current_member_id
)
select
  document_id,
  rows
from published
join present using (document_id, rows)
where document_id in (
  select d.document_id
  from document d
  group by d.document_id
  having count(distinct d.read_as) = 1
    and count(distinct d.is_published) = 2
);
analyze :"schema".same_document;

-- statement: no_same_documents
create unlogged table :"schema".same_document (
  document_id int4,
  rows int8
);

-- statement: no_same_parcels
create unlogged table :"schema".same_parcel (
  fid int4,
  member_id int4,
  position int8
);

-- statement: same_parcels
insert into :"schema".same_parcel
:"rows";
alter table :"schema".same_parcel add primary key (fid);
analyze :"schema".same_parcel;

-- statement: same_parcels_of_layer
-- Lists the parcels whose row in the layer has the published values. The other columns of a parcel are computed from this row, so they are unchanged too. With
-- the condition "is true", PostgreSQL looks up the documents in a hash table. For a join, PostgreSQL would compare each parcel with all members.
select
  w.fid,
  n.member_id,
  n.position
from :"layer" n
join :"was" w on w.reference = n.reference
where n.member_id in (:'members')
  and (
    (n.member_id, w.document_id) in (
      select
        member_id,
        document_id
      from :"build".current_member
    )
  ) is true
  and row(:"n.columns") is not distinct from row(:"w.columns")

-- statement: forget_same_parcels
truncate :"schema".same_document;
truncate :"schema".same_parcel;

-- statement: same_rows
select
  coalesce((select sum(rows) from :"schema".same_document), 0)::int8
    + (select count(*) from :"schema".same_parcel) as rows

-- statement: members_with_rows
-- Lists the current members with rows in the layer. Looks up one row of each member, because a semi-join would read the complete layer.
select m.*
from :"build".current_member m
cross join lateral (
  select
  from :"layer" l
  where l.member_id = m.member_id
  limit 1
) present

-- statement: fresh_members
-- Lists the members with rows in the layer, except members whose document is unchanged. With unchanged members, the planner would expect too many rows.
select m.member_id as id
from (:"members") m
where not exists (
  select
  from :"schema".same_document d
  where d.document_id = m.document_id
)
order by m.member_id

-- statement: fresh_rows
create unlogged table :"schema".:"table" as
select l.*
from :"from" l
where l.member_id in (:'members')
  and not exists (
    select
    from :"schema".same_parcel s
    where s.member_id = l.member_id
      and s.position = l.position
  );
analyze :"schema".:"table";

-- statement: repeats_in_files
select
  (
    select count(distinct m.file_id)
    from (:"members") m
  ) > 1 and exists (
    select
    from :"layer"
    group by hashtextextended(reference, 0)
    having count(*) > 1
  ) as repeats

-- statement: changed_fid
-- Lists the parcels that were added, removed or changed. offset 0 makes PostgreSQL select the rows before it converts them to text. With "not in", PostgreSQL
-- looks up the document of each parcel in a hash table while it reads the parcels. There are only a few documents, so the hash table is small.
create unlogged table :"schema".:"fids" as
select fid
from (
  select
    t.fid,
    row(:"t.columns")::text as content
  from (
    select *
    from :"was" r
    where r.document_id not in (
      select document_id
      from :"schema".same_document
    )
      and not exists (
        select
        from :"schema".same_parcel s
        where s.fid = r.fid
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
      from :"schema".same_document d
      where d.document_id = r.document_id
    )
    offset 0
  ) t
) n using (fid)
where w.content is distinct from n.content;

-- statement: shapes
-- Returns the published and the new geometries of the changed parcels.
(
  select geom
  from :"schema".changed_parcel
  union all
  select w.geom
  from :"was" w
  join :"schema".:"fids" using (fid)
)

-- statement: within
-- Finds the parcels near the changed parcels with one join of boxes. A test per parcel would compare each parcel with every other parcel.
create unlogged table :"schema".:"found" as
select distinct p.fid
from :"shapes" c
join :"was" p on p.geom && st_expand(c.geom, :'east', :'north');
analyze :"schema".:"found";

-- statement: sharing_fid
-- Adds the published parcels that share a value of the column with a changed parcel. `analyze` gives PostgreSQL the number of values. PostgreSQL then uses the
-- index of the column for a few values, and a sequential scan for many values.
create unlogged table :"schema".:"values" as
select :"column"
from :"schema".:"table"
where :"column" is not null
union
select :"c.column"
from :"was" c
join :"schema".:"start" using (fid)
where :"c.column" is not null;
alter table :"schema".:"values" add primary key (:"column");
analyze :"schema".:"values";
create unlogged table :"schema".:"fids" as
select fid
from :"schema".:"start"
union
select w.fid
from :"was" w
join :"schema".:"values" using (:"column");

-- statement: with_others
create unlogged table :"schema".:"fids" as
select fid
from :"schema".changed_fid
:"others";

-- statement: or_fids_of
union
select fid
from :"table"

-- statement: are_reached
select
  not exists (
    select
    from :"table" o
    where not exists (
      select
      from :"schema".:"fids" f
      where f.fid = o.fid
    )
  ) as reached

-- statement: features
-- st_expand returns the box of the shape. The planner has no statistics for st_expand, so each shape looks up its features in the index of the layer.
select f.geom
from :"schema".:"shape" s
join :"table" f on f.geom && st_expand(s.geom, 0)

-- statement: under
-- Finds the parcels under features that overlap changed parcels. Only the boxes of features and parcels are compared.
create unlogged table :"schema".:"shape" as
select geom
from :"shapes" c;
analyze :"schema".:"shape";
create unlogged table :"schema".:"feature" as
select distinct geom
from (:"features") f;
analyze :"schema".:"feature";
create unlogged table :"schema".:"found" as
select distinct p.fid
from :"schema".:"feature" f
join :"was" p on p.geom && f.geom;
analyze :"schema".:"found";

-- statement: reached_fid
create unlogged table :"schema".:"fids" as
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
-- Creates the table with the row order and the indexes that the SQL of sections requires.
create unlogged table :"schema".:"table" as
select *
from (:"rows") q
order by geom;
alter table :"schema".:"table" add primary key (fid);
-- serves: spatial joins of features with parcels
create index on :"schema".:"table" using gist (geom);
-- serves: spatial joins of features with representative points
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

-- statement: other_parcels
-- Selects changed parcels, and parcels that moved to a different document.
create unlogged table :"schema".:"fids" as
select fid
from :"schema".changed_fid
union
select n.fid
from :"schema".:"table" n
join :"was" w using (fid)
where n.document_id <> w.document_id;

-- statement: other_row
-- Selects parcels whose row differs in any column, in a table with at most one row per parcel. One join takes less than half the time of the comparison in
-- other_rows. offset 0 makes PostgreSQL convert the rows to text before the join.
create unlogged table :"schema".:"fids" as
select fid
from (
  select
    t.fid,
    row(:"t.columns")::text as content
  from :"schema".:"table" t
  offset 0
) n
full join (
  select
    t.fid,
    row(:"t.columns")::text as content
  from (
    select r.*
    from :"was" r
    join :"schema".:"reached" using (fid)
  ) t
  offset 0
) w using (fid)
where n.content is distinct from w.content;

-- statement: other_rows
-- Selects parcels whose rows differ in any column. A parcel may have several rows.
create unlogged table :"schema".:"fids" as
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
  from (
    select r.*
    from :"was" r
    join :"schema".:"reached" using (fid)
  ) t
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

-- statement: replaced_rows
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

-- statement: patched_rows
-- Joins the parcels with each part, because PostgreSQL does not move a join into a union.
(
  select :"t.columns"
  from :"was" t
  join :"parcels" p using (fid)
  where not exists (
    select
    from :"fids" c
    where c.fid = t.fid
  )
  union all
  select :"t.columns"
  from :"came" t
  join :"parcels" p using (fid)
)

-- statement: rows_of
select :"columns"
from :"from"

-- statement: read_instead
create or replace view :"view" as
select :"columns"
from :"schema".:"table";
