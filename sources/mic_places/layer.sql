-- purpose: places of culture in the ministry's list
-- reads: none
-- writes: layer.cultural_place
-- grain: one row per place
-- crs: none; longitude and latitude in WGS 84 degrees as published, without correction

create table layer.cultural_place (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  place_id text not null,
  name text not null,
  type text,
  class text,
  address text,
  comune text,
  province text,
  region_code int2,
  lat float8,
  lon float8,
  catalog_code text,
  comune_key text,
  street_types text[] not null,
  street_words text[] not null,
  number int4,
  exponent text,
  colour text,
  place text not null,
  regions_reached int2 not null
) partition by list (release_id);
comment on table layer.cultural_place is 'Places of culture (MiC), with the coordinates as published. core.point_of_interest has the position of each place';
comment on column layer.cultural_place.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.cultural_place.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.cultural_place.position is 'Last line of the record, from 1.';
comment on column layer.cultural_place.place_id is 'Identifier as published';
comment on column layer.cultural_place.name is 'Name';
comment on column layer.cultural_place.type is 'Type, as published: Museo, Biblioteca; null if not stated';
comment on column layer.cultural_place.class is 'Category, as published; null if not stated';
comment on column layer.cultural_place.address is 'Address as published; null if not stated';
comment on column layer.cultural_place.comune is 'Comune as published; null if not stated';
comment on column layer.cultural_place.province is 'Province as published, its name or car plate code; null if not stated';
comment on column layer.cultural_place.region_code is 'ISTAT region code of the province; null if its plate code is not stated';
comment on column layer.cultural_place.lat is 'Latitude as published; null if not stated';
comment on column layer.cultural_place.lon is 'Longitude as published; null if not stated';
comment on column layer.cultural_place.catalog_code is 'Code in the catalogue; null if not stated';
comment on column layer.cultural_place.comune_key is 'Comune, normalised like core.comune_key; null if not stated';
comment on column layer.cultural_place.street_types is 'Types that the street of the address may have, normalised; empty if none is written';
comment on column layer.cultural_place.street_words is 'Different words of the street''s name, normalised, ascending; empty if no street is written';
comment on column layer.cultural_place.number is 'House number; null if none';
comment on column layer.cultural_place.exponent is 'Suffix of the house number, upper case; null if none';
comment on column layer.cultural_place.colour is 'ROSSO or NERO; null if not written';
comment on column layer.cultural_place.place is 'Province and comune as published. A newer part supersedes older ones of the same place';
comment on column layer.cultural_place.regions_reached is 'Number of regions of Italy, of 20, with rows in the file. With 15 and more, the file covers Italy';
