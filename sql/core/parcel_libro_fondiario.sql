-- purpose: the parcels of a region with provincial land registers, each with its fid
-- version: 4
-- reads: layer.trento_parcel, layer.bolzano_parcel, core.comune_catastale, core.parcel_register
-- writes: core.parcel, core.parcel_register
-- regions: 4
-- incremental: rows of members of layer.trento_parcel, layer.bolzano_parcel
-- grain: one row per parcel
-- crs: geometry in EPSG:4326; areas measured in EPSG:3035

-- References contain the comune catastale instead of the comune. If comuni merge, references and fids do not change. Each comune catastale is in only one
-- current file.
create view mapped as
select
  'IT.TN.' || ccat as prefix,
  0 as first_number,
  reference,
  code,
  made_valid,
  geom,
  member_id
from trento_parcel
union all
select
  'IT.BZ.' || ccat,
  50000000,
  reference,
  code,
  made_valid,
  geom,
  member_id
from bolzano_parcel;

-- Each province has half of the range of fids. New references get the next numbers in sorted order, so the same files give the same numbers. The next numbers
-- are read before the first insertion, because a search for each reference would read the rows that the `insert` below has already written.
create table province_range as
select
  f.first_number,
  g.code * 100000000 + f.first_number
    + coalesce(
      (
        select max(r.fid) - g.code * 100000000 - f.first_number + 1
        from core.parcel_register r
        where r.region_code = g.code
          and r.fid >= g.code * 100000000 + f.first_number
          and r.fid < g.code * 100000000 + f.first_number + 50000000
      ),
      0
    ) as next_fid
from (select distinct first_number from mapped) f
cross join region g;

insert into core.parcel_register (region_code, reference, fid)
select
  g.code,
  n.reference,
  f.next_fid + (row_number() over (partition by n.first_number order by n.reference collate "C") - 1)::int4
from mapped n
join province_range f using (first_number)
cross join region g
left join core.parcel_register k on k.region_code = g.code and k.reference = n.reference
where k.reference is null;

drop table province_range;

-- Leaves out parcels whose comune catastale belongs to no known comune. A check then reports the comune catastale, and the region is not published.
create table parcel as
select
  k.fid,
  c.belfiore,
  null::text as section,
  null::text as sheet,
  null::text as attachment,
  null::text as development,
  n.code as label,
  n.reference,
  n.reference as gml_id,
  'land'::text as kind,
  core.area_m2(n.geom) as area_m2,
  n.made_valid,
  st_pointonsurface(n.geom)::geometry(point, 4326) as point,
  n.geom,
  m.document_id
from mapped n
join current_member m on m.member_id = n.member_id
cross join region g
join core.parcel_register k on k.region_code = g.code and k.reference = n.reference
join comune_catastale c on c.prefix = n.prefix and c.belfiore is not null
order by n.geom;

drop view mapped;

-- step: parcel_keys.sql
