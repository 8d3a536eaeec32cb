-- purpose: the accesses of the region's comuni
-- version: 1
-- reads: layer.accesso, layer.comune_code
-- writes: core.access_point
-- grain: one row per access
-- crs: EPSG:4326

-- Sorted, so that the numbers of a street lie on one page: the search reads them together.
create table access_point as
select
  g.code as region_code,
  a.progressivo_accesso as address_id,
  a.progressivo_nazionale as street_id,
  a.belfiore,
  case when a.progressivo_snc is null then a.civico end as number,
  case when a.progressivo_snc is null then nullif(upper(trim(a.esponente) collate "C"), '') end collate "default" as exponent,
  nullif(upper(trim(a.specificita) collate "C"), '') collate "default" as colour,
  case when a.progressivo_snc is null and a.civico is null then a.metrico end as metric_m,
  a.progressivo_snc as snc,
  case when a.progressivo_snc is not null then a.civico end as snc_after,
  a.geom,
  a.coordinate_flag as quality,
  a.metodo,
  a.release_id,
  a.member_id,
  a.position
from accesso a
join comune_code c on c.belfiore = a.belfiore
join region g on g.code = c.region_code
order by a.progressivo_nazionale, a.civico, a.esponente collate "C", a.progressivo_accesso;

alter table access_point add primary key (region_code, address_id);
alter table access_point alter column street_id set not null;
alter table access_point alter column belfiore set not null;
alter table access_point alter column quality set not null;
alter table access_point alter column release_id set not null;
alter table access_point alter column member_id set not null;
alter table access_point alter column position set not null;
-- serves: numbers of a street
create index on access_point (street_id, number, exponent);
-- serves: reverse geocoding; access points of parcels
create index on access_point using gist (geom);
