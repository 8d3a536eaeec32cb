-- purpose: the parcels of the region, each with its fid
-- version: 2
-- reads: layer.cadastral_parcel, core.parcel_register
-- writes: core.parcel, core.parcel_register
-- carries: rows of members of layer.cadastral_parcel
-- grain: one row per parcel
-- crs: geometry in EPSG:4326; areas measured in EPSG:3035

-- Files of different days may have a parcel in the documents of two comuni: the one of its own comune counts, then the newer.
create table parcel_twice as
select distinct on (n.reference)
  n.reference,
  n.member_id,
  n.position
from cadastral_parcel n
join member_in_force m using (member_id)
where (select count(distinct file_id) from member_in_force where release_id in (select release_id from cadastral_parcel)) > 1
  and hashtextextended(n.reference, 0) in (
    select hashtextextended(reference, 0)
    from cadastral_parcel
    group by 1
    having count(*) > 1
  )
order by n.reference, n.file_belfiore is null desc, m.rank, n.position;

analyze parcel_twice;

-- New references take the next numbers of the region's range, in the order of the reference, so that the same files
-- give the same numbers. The register is only ever added to.
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
  st_area(st_transform(n.geom, 3035)) as area_m2,
  n.made_valid,
  st_pointonsurface(n.geom)::geometry(point, 4326) as point,
  n.geom,
  n.release_id,
  n.member_id,
  n.position
from cadastral_parcel n
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

alter table parcel add primary key (fid);
alter table parcel alter column belfiore set not null;
alter table parcel alter column sheet set not null;
alter table parcel alter column attachment set not null;
alter table parcel alter column development set not null;
alter table parcel alter column label set not null;
alter table parcel alter column reference set not null;
alter table parcel alter column gml_id set not null;
alter table parcel alter column kind set not null;
alter table parcel alter column area_m2 set not null;
alter table parcel alter column made_valid set not null;
alter table parcel alter column point set not null;
alter table parcel alter column geom set not null;
alter table parcel alter column release_id set not null;
alter table parcel alter column member_id set not null;
alter table parcel alter column position set not null;
-- serves: locate by point and by box, joins with polygons
create index on parcel using gist (geom);
-- serves: joins of zones with representative points
create index on parcel using gist (point);
-- serves: look-up by cadastral reference
create index on parcel (reference);
