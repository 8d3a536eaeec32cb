-- purpose: where the maps of hazards reach
-- reads: none
-- writes: core.coverage, core.motion_tile, core.shore_piece, core.coast_coverage
-- grain: as each table says
-- crs: EPSG:4326; tiles are squares of EPSG:3035

create table core.coverage (
  region_code int2 not null,
  theme text not null,
  belfiore text not null,
  mapped bool not null,
  release_id int4,
  member_id int4,
  position int8,
  primary key (region_code, theme, belfiore)
) partition by list (region_code);
comment on table core.coverage is 'Which comuni the maps of floods and landslides cover, one partition per region; no row of a theme: no file of it is loaded';
comment on column core.coverage.region_code is 'ISTAT region code; the partition key';
comment on column core.coverage.theme is 'flood_P1, flood_P2, flood_P3 (each scenario is a map of its own) or landslide';
comment on column core.coverage.belfiore is 'Cadastral code of the comune';
comment on column core.coverage.mapped is 'True: where no area is drawn in this comune there is no such hazard; false: the files loaded do not reach it';
comment on column core.coverage.release_id is 'Release (ledger.release) of the file that speaks for the comune, the newest that covers it; null: none does';
comment on column core.coverage.member_id is 'File member (ledger.member) of that file; null: as release_id';
comment on column core.coverage.position is 'First area of the theme in the member; null: as release_id';

create table core.motion_tile (
  region_code int2 not null,
  tile_x int4 not null,
  tile_y int4 not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null
) partition by list (region_code);
comment on table core.motion_tile is 'Tiles of ground motion that are loaded, the same in each region''s partition; none: nothing is loaded';
comment on column core.motion_tile.region_code is 'ISTAT region code; the partition key';
comment on column core.motion_tile.tile_x is 'Column of the tile: easting / 100 km, EPSG:3035 (46 of E46N19)';
comment on column core.motion_tile.tile_y is 'Row of the tile: northing / 100 km, EPSG:3035 (19 of E46N19)';
comment on column core.motion_tile.release_id is 'Release (ledger.release)';
comment on column core.motion_tile.member_id is 'File member (ledger.member): the tile''s CSV';
comment on column core.motion_tile.position is 'Line of the CSV that the tile was known by; 1, the header, where its name says it';

create table core.shore_piece (
  region_code int2 not null,
  belfiore text,
  dynamic text,
  avg_change_m_year float8,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  geom geometry(linestring, 4326) not null
) partition by list (region_code);
comment on table core.shore_piece is 'The shore in and around a region in pieces of at most 1 km, of the newest file that covers the comune that each lies at; one partition per region';
comment on column core.shore_piece.region_code is 'ISTAT region code; the partition key';
comment on column core.shore_piece.belfiore is 'Cadastral code of the comune at whose boundary the piece''s middle lies, at most 1,000 m away; null: none is known, or nobody asked because one file holds the shore of Italy';
comment on column core.shore_piece.dynamic is 'erosion, accretion or stable; null: the publisher has no information';
comment on column core.shore_piece.avg_change_m_year is 'Mean change in metres per year, positive seaward; null: not published';
comment on column core.shore_piece.release_id is 'Release (ledger.release)';
comment on column core.shore_piece.member_id is 'File member (ledger.member) of the segment';
comment on column core.shore_piece.position is 'Ordinal of the segment in its member; several pieces share it';
comment on column core.shore_piece.geom is 'The piece, EPSG:4326';

create table core.coast_coverage (
  region_code int2 not null,
  belfiore text not null,
  mapped bool not null,
  release_id int4,
  member_id int4,
  position int8,
  primary key (region_code, belfiore)
) partition by list (region_code);
comment on table core.coast_coverage is 'Which comuni the layer of shoreline change covers, one partition per region; no row: no file of it is loaded';
comment on column core.coast_coverage.region_code is 'ISTAT region code; the partition key';
comment on column core.coast_coverage.belfiore is 'Cadastral code of the comune';
comment on column core.coast_coverage.mapped is 'True: no segment near a parcel of the comune means that none of low coast is near; false: the files loaded do not reach it';
comment on column core.coast_coverage.release_id is 'Release (ledger.release) of the file that speaks for the comune, the newest that covers it; null: none does';
comment on column core.coast_coverage.member_id is 'File member (ledger.member) of that file; null: as release_id';
comment on column core.coast_coverage.position is 'A segment of that file: one at the comune, else its first; null: as release_id';
