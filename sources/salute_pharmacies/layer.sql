-- purpose: pharmacies in the ministry's list, including closed ones
-- reads: none
-- writes: layer.pharmacy
-- grain: one row per pharmacy and period of validity
-- crs: none; longitude and latitude in WGS 84 degrees as published, without correction

create table layer.pharmacy (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  pharmacy_id text not null,
  name text not null,
  address text,
  istat_code text not null,
  comune text,
  type text,
  opened_on date,
  closed_on date,
  open bool not null,
  lat float8,
  lon float8,
  comune_key text,
  street_types text[] not null,
  street_words text[] not null,
  number int4,
  exponent text,
  colour text,
  regions_reached int2 not null
) partition by list (release_id);
comment on table layer.pharmacy is 'Pharmacies (Ministero della Salute), open and closed, with the coordinates as published. core.point_of_interest has the position of each pharmacy';
comment on column layer.pharmacy.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.pharmacy.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.pharmacy.position is 'Line of the file, from 1.';
comment on column layer.pharmacy.pharmacy_id is 'cod_farmacia. A pharmacy that moved has several rows, at most one of them open';
comment on column layer.pharmacy.name is 'descrizione_farmacia';
comment on column layer.pharmacy.address is 'indirizzo; null if not stated';
comment on column layer.pharmacy.istat_code is 'ISTAT code of the comune, 6 digits, text, possibly a former one';
comment on column layer.pharmacy.comune is 'Name of the comune as published; null if not stated';
comment on column layer.pharmacy.type is 'descrizione_tipologia: Ordinaria, Succursale, Dispensario; null if not stated';
comment on column layer.pharmacy.opened_on is 'data_inizio_validita; null if not stated';
comment on column layer.pharmacy.closed_on is 'data_fine_validita; null if none';
comment on column layer.pharmacy.open is 'False if closed_on is not after the day of the file. Such rows are not published';
comment on column layer.pharmacy.lat is 'Latitude as published; null if not stated';
comment on column layer.pharmacy.lon is 'Longitude as published; null if not stated';
comment on column layer.pharmacy.comune_key is 'Comune, normalised like core.comune_key; null if not stated';
comment on column layer.pharmacy.street_types is 'Types that the street of the address may have, normalised; empty if none is written';
comment on column layer.pharmacy.street_words is 'Different words of the street''s name, normalised, ascending; empty if no street is written';
comment on column layer.pharmacy.number is 'House number; null if none';
comment on column layer.pharmacy.exponent is 'Suffix of the house number, upper case; null if none';
comment on column layer.pharmacy.colour is 'ROSSO or NERO; null if not written';
comment on column layer.pharmacy.regions_reached is 'Number of regions of Italy, of 20, with rows in the file. With 15 and more, the file covers Italy';
