-- purpose: points of interest of a region, and those that cannot be placed
-- reads: none
-- writes: core.point_of_interest, section.unplaced
-- grain: as each table says
-- crs: EPSG:4326, longitude and latitude in degrees

create table core.point_of_interest (
  region_code int2 not null,
  id text not null,
  category text not null,
  code text not null,
  name text not null,
  categories text,
  class text,
  catalog_code text,
  address text,
  locality text,
  province text,
  belfiore text,
  placed_by text,
  address_id int8,
  reason text,
  geom geometry(point, 4326),
  regions_reached int2 not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, id)
) partition by list (region_code);
comment on table core.point_of_interest is
  'Schools, open pharmacies, fuel stations and places of culture whose comune is of the region, or of no region that is known; placed or not; one partition per region';
comment on column core.point_of_interest.region_code is 'ISTAT region code; the partition key';
comment on column core.point_of_interest.id is 'Category and code: school:CBEE000001';
comment on column core.point_of_interest.category is 'school, pharmacy, fuel or culture';
comment on column core.point_of_interest.code is 'Identifier as the publisher gives it';
comment on column core.point_of_interest.name is 'Name as published; of a fuel station without one its brand';
comment on column core.point_of_interest.categories is 'What it is in the words of the publisher; null: not stated';
comment on column core.point_of_interest.class is 'Of a place of culture its category as published; null: not stated, or another kind of point';
comment on column core.point_of_interest.catalog_code is 'Of a place of culture its code in the catalogue; null: not stated, or another kind of point';
comment on column core.point_of_interest.address is 'Address as published; null: not stated';
comment on column core.point_of_interest.locality is 'Comune as published; null: not stated';
comment on column core.point_of_interest.province is 'Province as published; null: not stated, or a code says the comune';
comment on column core.point_of_interest.belfiore is 'Cadastral code of the comune in force that it is stated to lie in; null: no comune, or several, and none holds it';
comment on column core.point_of_interest.placed_by is 'coordinates: those published lie in the comune; address: the one located access with its street and number; null: neither, see reason';
comment on column core.point_of_interest.address_id is 'Access (core.access_point) that it was placed by; null: not by an address';
comment on column core.point_of_interest.reason is
  'Why it is not placed: swapped, zero or elsewhere say what is wrong with its coordinates; of points without coordinates ambiguous, not_found or no_number say why the address does not help; not_found also: no such comune; null: it is placed';
comment on column core.point_of_interest.geom is 'Where it is, EPSG:4326 longitude latitude; null: not placed';
comment on column core.point_of_interest.regions_reached is 'Regions of Italy, of 20, that its file reaches';
comment on column core.point_of_interest.release_id is 'Release it was read from (ledger.release)';
comment on column core.point_of_interest.member_id is 'File member it was read from (ledger.member)';
comment on column core.point_of_interest.position is 'Line of the file, from 1';

create table section.unplaced (
  region_code int2 not null,
  id text not null,
  category text not null,
  name text not null,
  address text,
  locality text,
  province text,
  belfiore text,
  reason text not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, id)
) partition by list (region_code);
comment on table section.unplaced is 'Points of interest that stand at no parcel because nobody knows where they are: rows of core.point_of_interest without a place; one partition per region';
comment on column section.unplaced.region_code is 'ISTAT region code; the partition key';
comment on column section.unplaced.id is 'As in core.point_of_interest';
comment on column section.unplaced.category is 'school, pharmacy, fuel or culture';
comment on column section.unplaced.name is 'Name as published';
comment on column section.unplaced.address is 'Address as published; null: not stated';
comment on column section.unplaced.locality is 'Comune as published; null: not stated';
comment on column section.unplaced.province is 'Province as published; null: not stated, or a code says the comune';
comment on column section.unplaced.belfiore is 'Cadastral code of the comune that it is stated to lie in; null: not known';
comment on column section.unplaced.reason is 'swapped, zero, elsewhere, ambiguous, not_found or no_number, as in core.point_of_interest';
comment on column section.unplaced.release_id is 'Release it was read from (ledger.release)';
comment on column section.unplaced.member_id is 'File member it was read from (ledger.member)';
comment on column section.unplaced.position is 'Line of the file, from 1';
