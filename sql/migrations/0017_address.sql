-- purpose: addresses, the dictionary and gazetteer of their search, and the access points of parcels
-- reads: none
-- writes: core.access_point, core.street, core.token, core.street_name, core.comune_name, section.address
-- grain: as each table says
-- crs: EPSG:4326, longitude and latitude in degrees

create table core.access_point (
  region_code int2 not null,
  address_id int8 not null,
  street_id int8 not null,
  belfiore text not null,
  number int4,
  exponent text,
  colour text,
  metric_m int4,
  snc int4,
  snc_after int4,
  geom geometry(point, 4326),
  quality text not null,
  metodo int2,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, address_id)
) partition by list (region_code);
comment on table core.access_point is 'Accesses of ANNCSU in force, also those without coordinates; one partition per region, sorted by street and number';
comment on column core.access_point.region_code is 'ISTAT region code; the partition key';
comment on column core.access_point.address_id is 'PROGRESSIVO_ACCESSO: key of the access, the same in every release';
comment on column core.access_point.street_id is 'Street (core.street)';
comment on column core.access_point.belfiore is 'Cadastral code of the comune';
comment on column core.access_point.number is 'Civico; null: numbered by metres, or without number (SNC)';
comment on column core.access_point.exponent is 'Exponent, upper case, as published otherwise (A, BIS, 3); null: none';
comment on column core.access_point.colour is 'ROSSO or NERO where the comune has two series of numbers, else as published, upper case; null: none';
comment on column core.access_point.metric_m is 'Metres along the street, where accesses are numbered so; null: they are not';
comment on column core.access_point.snc is 'Ordinal of an access without number; null: it has a number, or nothing was stated';
comment on column core.access_point.snc_after is 'Number that an access without number follows; null: start of the street, or it has a number';
comment on column core.access_point.geom is 'Access point, EPSG:4326 longitude latitude; null: none was published that can be believed, see quality';
comment on column core.access_point.quality is 'What the published coordinates were: good, without_method, none, method_without_coordinates, incomplete, zero, swapped, projected, outside_italy';
comment on column core.access_point.metodo is 'How the point was found, 1–5 as ANNCSU defines; null: not stated';
comment on column core.access_point.release_id is 'Release it was read from (ledger.release)';
comment on column core.access_point.member_id is 'File member it was read from (ledger.member)';
comment on column core.access_point.position is 'Line of the file, from 1';
-- serves: numbers of a street
create index on core.access_point (street_id, number, exponent);
-- serves: reverse geocoding; access points of parcels
create index on core.access_point using gist (geom);

create table core.street (
  region_code int2 not null,
  street_id int8 not null,
  belfiore text not null,
  name text not null,
  odonimo text not null,
  locality text,
  locality_key text,
  accesses int4 not null,
  located int4 not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, street_id)
) partition by list (region_code);
comment on table core.street is 'Streets of ANNCSU, also those without an access; one partition per region';
comment on column core.street.region_code is 'ISTAT region code; the partition key';
comment on column core.street.street_id is 'PROGRESSIVO_NAZIONALE: key of the street';
comment on column core.street.belfiore is 'Cadastral code of the comune';
comment on column core.street.name is 'Type and name in Italian title case';
comment on column core.street.odonimo is 'The same as published';
comment on column core.street.locality is 'Locality in Italian title case; null: not stated';
comment on column core.street.locality_key is 'Locality normalised for search; null: not stated';
comment on column core.street.accesses is 'Accesses of the street';
comment on column core.street.located is 'Accesses with a point';
comment on column core.street.release_id is 'Release it was read from (ledger.release)';
comment on column core.street.member_id is 'File member it was read from (ledger.member)';
comment on column core.street.position is 'Line of the file, from 1; for a street that only INDIR names, of its first access';

create table core.token (
  region_code int2 not null,
  id int4 not null,
  text text not null,
  df int4 not null,
  weight float8 not null,
  primary key (region_code, id)
) partition by list (region_code);
comment on table core.token is 'Words of street names: the dictionary of the address search, one partition per region';
comment on column core.token.region_code is 'ISTAT region code; the partition key';
comment on column core.token.id is 'region_code · 10,000,000 + rank by frequency; good inside one publication';
comment on column core.token.text is 'Normalised word: lower case, no accents, saints one class, numerals as digits';
comment on column core.token.df is 'Street names of the region that hold the word';
comment on column core.token.weight is 'ln(1 + street names / df), 4 decimals: how much the word tells';
-- serves: a word as it was typed
create index on core.token (text);
-- serves: correction of a mistyped word
create index on core.token using gin (text gin_trgm_ops);

create table core.street_name (
  region_code int2 not null,
  street_id int8 not null,
  ordinal int2 not null,
  belfiore text not null,
  kind text not null,
  street_type text,
  token_ids int4[] not null,
  weight float8 not null,
  locality_key text,
  located int4 not null,
  comune_located int4 not null,
  primary key (region_code, street_id, ordinal)
) partition by list (region_code);
comment on table core.street_name is 'Names by which streets are asked for: official, halves of bilingual ones, minority languages; one partition per region';
comment on column core.street_name.region_code is 'ISTAT region code; the partition key';
comment on column core.street_name.street_id is 'Street (core.street)';
comment on column core.street_name.ordinal is 'Number of the name in its street, from 1';
comment on column core.street_name.belfiore is 'Cadastral code of the comune';
comment on column core.street_name.kind is 'odonimo: official text or a half of it; lingua1, lingua2: the fields for minority languages';
comment on column core.street_name.street_type is 'Normalised street type; null: none';
comment on column core.street_name.token_ids is 'Distinct words (core.token), ascending';
comment on column core.street_name.weight is 'Sum of the weights of the words, 4 decimals';
comment on column core.street_name.locality_key is 'Locality of the street, normalised for search; null: not stated';
comment on column core.street_name.located is 'Accesses of the street with a point';
comment on column core.street_name.comune_located is 'Accesses of the comune with a point: its size, where nothing else decides';
-- serves: streets by their words, in all Italy
create index on core.street_name using gin (token_ids);
-- serves: streets of a comune
create index on core.street_name (belfiore);

create table core.comune_name (
  region_code int2 not null,
  key text not null,
  belfiore text not null,
  kind text not null,
  name text not null,
  primary key (region_code, key, belfiore, kind)
) partition by list (region_code);
comment on table core.comune_name is 'Gazetteer of the address search: names of comuni and of localities; one partition per region';
comment on column core.comune_name.region_code is 'ISTAT region code; the partition key';
comment on column core.comune_name.key is 'Normalised name: core.comune_key';
comment on column core.comune_name.belfiore is 'Cadastral code of the comune';
comment on column core.comune_name.kind is 'name: Italian; second: in the second language; former: a suppressed comune that is part of it; locality';
comment on column core.comune_name.name is 'Name as published';
-- serves: a name as it was typed
create index on core.comune_name (key);
-- serves: correction of a mistyped name
create index on core.comune_name using gin (key gin_trgm_ops);

create table section.address (
  fid int4 not null,
  ordinal int2 not null,
  address_id int8 not null,
  inside bool not null,
  distance_m float8 not null,
  primary key (fid, ordinal)
) partition by range (fid);
comment on table section.address is 'Access points of a parcel: those inside it, else those within 15 m that have no nearer land parcel in their comune; at most 20 per parcel';
comment on column section.address.fid is 'Parcel identifier';
comment on column section.address.ordinal is 'Place in the answer, from 1: inside before near, near by distance, then by address_id';
comment on column section.address.address_id is 'Access (core.access_point)';
comment on column section.address.inside is 'True: the point lies in the parcel or on its border';
comment on column section.address.distance_m is 'Geodesic distance from the parcel in metres, 2 decimals; 0 inside';
