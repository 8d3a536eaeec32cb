-- purpose: access points of the region's comuni
-- version: 2
-- reads: layer.accesso
-- writes: core.access_point
-- grain: one row per access point
-- crs: EPSG:4326

-- Selects the file to use for an access point whose comune differs between files of different days.
create table access_twice as
select distinct on (a.progressivo_accesso)
  a.progressivo_accesso as address_id,
  m.file_id
from accesso a
join current_member m using (member_id)
where a.progressivo_accesso in (select progressivo_accesso from accesso group by progressivo_accesso having count(*) > 1)
order by a.progressivo_accesso, m.rank, a.belfiore collate "C";

analyze access_twice;

-- Sorts the rows by street, so the house numbers of a street are on the same page or on neighbouring pages.
create table access_point as
select
  g.code as region_code,
  a.progressivo_accesso as address_id,
  a.progressivo_nazionale as street_id,
  a.belfiore,
  case when a.progressivo_snc is null then a.civico end as number,
  case when a.progressivo_snc is null then nullif(core.upper_case(trim(a.esponente)), '') end as exponent,
  nullif(core.upper_case(trim(a.specificita)), '') as colour,
  case when a.progressivo_snc is null and a.civico is null then a.metrico end as metric_m,
  a.progressivo_snc as snc,
  case when a.progressivo_snc is not null then a.civico end as snc_after,
  a.geom,
  a.coordinate_flag as quality,
  a.metodo,
  a.release_id,
  member_id,
  a.position
from accesso a
cross join region g
join current_member m using (member_id)
left join access_twice t on t.address_id = a.progressivo_accesso
-- If two files assign an access point to different comuni, the newer file is used.
where t.file_id is null
  or t.file_id = m.file_id
order by a.progressivo_nazionale, a.civico, a.esponente collate "C", a.progressivo_accesso;

drop table access_twice;

alter table access_point add primary key (region_code, address_id);
alter table access_point alter column street_id set not null;
alter table access_point alter column belfiore set not null;
alter table access_point alter column quality set not null;
alter table access_point alter column release_id set not null;
alter table access_point alter column member_id set not null;
alter table access_point alter column position set not null;
-- serves: house numbers of a street
create index on access_point (street_id, number, exponent);
-- serves: reverse geocoding; access points of parcels
create index on access_point using gist (geom);
