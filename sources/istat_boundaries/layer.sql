-- purpose: boundaries of comuni, provinces and regions
-- reads: none
-- writes: layer.boundary
-- grain: one row per unit and level
-- crs: EPSG:4326, longitude latitude; areas measured in EPSG:3035

create table layer.boundary (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  kind text not null,
  code text not null,
  belfiore text,
  name text not null,
  vintage text not null,
  area_m2 float8 not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.boundary is 'Boundaries of comuni, provinces and regions (ISTAT)';
comment on column layer.boundary.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.boundary.member_id is 'Member that the row was read from (ledger.member): the layer.';
comment on column layer.boundary.position is 'Number of the record in its layer, from 1.';
comment on column layer.boundary.kind is 'comune, provincia or regione';
comment on column layer.boundary.code is 'ISTAT code as of the vintage, text: comune 6 digits; provincia 3 digits (UTS; metropolitan cities 2xx, in older editions the province); regione 2 digits';
comment on column layer.boundary.belfiore is 'Cadastral code of the comune; null if the file has none (all files except GeoJSON)';
comment on column layer.boundary.name is 'Name as published; the Italian name for comuni';
comment on column layer.boundary.vintage is 'Day or year of the edition; 0000 if the file states none';
comment on column layer.boundary.area_m2 is 'Area in square metres, measured in EPSG:3035';
comment on column layer.boundary.made_valid is 'True if the published polygon was invalid and was repaired';
comment on column layer.boundary.geom is 'Polygon, EPSG:4326 longitude latitude';
-- serves: the unit at a point
create index on layer.boundary using gist (geom);
-- serves: the boundary of a code
create index on layer.boundary (kind, code);
