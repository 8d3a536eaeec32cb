-- purpose: the parcels of the region, each with its fid
-- version: 5
-- reads: layer.cadastral_parcel, core.parcel_register
-- writes: core.parcel, core.parcel_register
-- incremental: rows of members of layer.cadastral_parcel
-- grain: one row per parcel
-- crs: geometry in EPSG:4326; areas measured in EPSG:3035

-- Files of different days may have the same parcel in the documents of two comuni. The build uses the parcel from the document of the parcel's comune. If no
-- document is of this comune, the build uses the parcel from the newer file.
create table parcel_twice as
select distinct on (n.reference)
  n.reference,
  n.member_id,
  n.position
from cadastral_parcel n
join current_member m using (member_id)
where (select count(distinct file_id) from current_member where member_id in (select member_id from cadastral_parcel)) > 1
  and hashtextextended(n.reference, 0) in (
    select hashtextextended(reference, 0)
    from cadastral_parcel
    group by 1
    having count(*) > 1
  )
order by n.reference, n.file_belfiore is null desc, m.rank, n.position;

analyze parcel_twice;

-- Selects references that share a fid because a comune changed its code, if the files contain all of these references. The published reference keeps the fid,
-- and the other references get new fids.
create table fid_shared as
select
  c.reference,
  c.carried,
  row_number() over (partition by c.fid order by c.carried desc, h.fid is null, c.reference collate "C") as turn
from (
  select
    k.fid,
    k.reference,
    false as carried
  from core.parcel_register k
  cross join region g
  where k.region_code = g.code
    and k.reference in (select reference from cadastral_parcel)
    and k.fid in (select t.fid from core.parcel_register t where t.region_code = g.code and t.taken_from is not null)
  union all
  select
    p.fid,
    p.reference,
    true
  from published_parcel p
  where p.carried
    and p.fid in (select t.fid from core.parcel_register t where t.region_code = (select code from region) and t.taken_from is not null)
) c
left join published_parcel h on h.fid = c.fid and h.reference = c.reference;

delete from core.parcel_register k
using region g, fid_shared s
where k.region_code = g.code
  and k.reference = s.reference
  and s.turn > 1
  and not s.carried;

drop table fid_shared;

-- New references of a region that was loaded before, with the digests of the parcels' geometries. Empty in the first load of a region.
create table newcomer as
select
  n.reference,
  n.belfiore,
  n.geom,
  core.drawing(n.geom) as drawing
from cadastral_parcel n
cross join region g
left join core.parcel_register k on k.region_code = g.code and k.reference = n.reference
where exists (select from core.parcel_register r where r.region_code = (select code from region))
  and k.reference is null
  and not exists (
    select
    from parcel_twice t
    where t.reference = n.reference
      and (t.member_id <> n.member_id or t.position <> n.position)
  );

-- Collects no statistics of the column geom. With statistics of geom on both sides of the join, PostGIS sometimes returns an estimate that the planner refuses.
analyze newcomer (reference, belfiore, drawing);

-- Handles a comune that changes its code. A new reference gets the fid of a parcel of a different comune, if only that parcel has the same geometry. This build
-- must remove that parcel, or an earlier build must have retired it.
create table same_drawing as
with published as (
  select
    n.reference,
    h.fid,
    h.reference as taken_from,
    h.belfiore <> n.belfiore and not h.carried as can_be_taken
  from newcomer n
  join published_parcel h on h.point && n.geom and core.drawing(h.geom) = n.drawing
),
retired as (
  select distinct on (n.reference, r.fid)
    n.reference,
    r.fid,
    r.reference as taken_from,
    not starts_with(r.reference, n.belfiore) as can_be_taken
  from newcomer n
  join core.parcel_register r on r.drawing = n.drawing
  where r.region_code = (select code from region)
    and r.retired_on is not null
    and r.successor_fid is null
    and not exists (select from published p where p.reference = n.reference)
  order by n.reference, r.fid, r.reference collate "C" desc
)
select
  reference,
  max(fid) as fid,
  max(taken_from) as taken_from
from (
  select * from published
  union all
  select * from retired
) s
group by reference
having count(*) = 1
  and bool_and(can_be_taken);

insert into core.parcel_register (region_code, reference, fid, taken_from)
select
  g.code,
  s.reference,
  s.fid,
  s.taken_from
from (
  select
    reference,
    fid,
    taken_from,
    count(*) over (partition by fid) as takers
  from same_drawing
) s
join (
  select
    reference,
    count(*) over (partition by drawing) as alike
  from newcomer
) n using (reference)
cross join region g
where s.takers = 1
  and n.alike = 1
  -- In this build, no other reference may have that fid.
  and not exists (
    select
    from core.parcel_register k
    join cadastral_parcel n on n.reference = k.reference
    where k.region_code = g.code
      and k.fid = s.fid
  );

drop table same_drawing;
drop table newcomer;

-- All other new references get the next numbers of the region's range. References are numbered in sorted order, so the same files give the same numbers.
insert into core.parcel_register (region_code, reference, fid)
select
  g.code,
  n.reference,
  g.code * 100000000
    + coalesce((select max(r.fid) - g.code * 100000000 + 1 from core.parcel_register r where r.region_code = g.code), 0)
    + (row_number() over (order by n.reference collate "C") - 1)::int4
from cadastral_parcel n
cross join region g
left join core.parcel_register k on k.region_code = g.code and k.reference = n.reference
where k.reference is null
  and not exists (
    select
    from parcel_twice t
    where t.reference = n.reference
      and (t.member_id <> n.member_id or t.position <> n.position)
  );

create table parcel as
select
  k.fid,
  n.belfiore,
  n.section,
  n.sheet,
  n.attachment,
  n.development,
  n.label,
  n.reference,
  n.gml_id,
  n.kind,
  core.area_m2(n.geom) as area_m2,
  n.made_valid,
  st_pointonsurface(n.geom)::geometry(point, 4326) as point,
  n.geom,
  m.document_id
from cadastral_parcel n
join current_member m on m.member_id = n.member_id
cross join region g
join core.parcel_register k on k.region_code = g.code and k.reference = n.reference
where not exists (
  select
  from parcel_twice t
  where t.reference = n.reference
    and (t.member_id <> n.member_id or t.position <> n.position)
)
order by n.geom;

drop table parcel_twice;

-- step: parcel_keys.sql

alter table parcel alter column sheet set not null;
alter table parcel alter column attachment set not null;
alter table parcel alter column development set not null;
