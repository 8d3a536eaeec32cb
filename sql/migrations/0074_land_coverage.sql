-- purpose: where the maps of land cover and land use reach; what is counted among the duplicates
-- reads: ledger.duplicate, ledger.release, ledger.member
-- writes: core.land_coverage, core.urban_area
-- grain: as each table says
-- crs: EPSG:4326

create table core.land_coverage (
  region_code int2 not null,
  belfiore text not null,
  mapped bool not null,
  release_id int4,
  member_id int4,
  position int8,
  primary key (region_code, belfiore)
) partition by list (region_code);
comment on table core.land_coverage is 'Which comuni the map of land cover covers, one partition per region; no row: no file of it is loaded';
comment on column core.land_coverage.region_code is 'ISTAT region code; the partition key';
comment on column core.land_coverage.belfiore is 'Cadastral code of the comune';
comment on column core.land_coverage.mapped is 'True: no land cover at a parcel of the comune means that the map has none there; false: the files loaded do not reach it';
comment on column core.land_coverage.release_id is 'Release (ledger.release) of the file that speaks for the comune, the newest that covers it; null: none does';
comment on column core.land_coverage.member_id is 'File member (ledger.member) of that file; null: as release_id';
comment on column core.land_coverage.position is 'First polygon of the member; null: as release_id';

create table core.urban_area (
  region_code int2 not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  geom geometry(polygon, 4326) not null
) partition by list (region_code);
comment on table core.urban_area is 'Pieces of the boundaries of the urban areas whose land use is mapped, in and around a region; one partition per region. Outside, nobody has mapped it';
comment on column core.urban_area.region_code is 'ISTAT region code; the partition key';
comment on column core.urban_area.release_id is 'Release (ledger.release)';
comment on column core.urban_area.member_id is 'File member (ledger.member) of the boundary';
comment on column core.urban_area.position is 'Ordinal of the boundary in its member; several pieces share it';
comment on column core.urban_area.geom is 'The piece, EPSG:4326';
-- serves: whether a parcel's point lies in an urban area
create index on core.urban_area using gist (geom);

comment on table ledger.duplicate is 'Records of which nothing is kept though they are no fault, counted per member and reason: they say again what another one said, or are of another country';
comment on column ledger.release.duplicates is 'Records that repeat another, or are of another country; null: not loaded';
comment on column ledger.member.duplicates is 'Records that repeat another, or are of another country; null: not read to the end';
