-- purpose: where the rasters of sections reach, and a function that takes another argument
-- reads: none
-- writes: core.raster_tile
-- grain: one row per raster, section and region
-- crs: EPSG:4326

create table core.raster_tile (
  region_code int2 not null,
  section text not null,
  source_id text not null,
  name text not null,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  geom geometry(polygon, 4326) not null
) partition by list (region_code);
comment on table core.raster_tile is 'Rasters in force, the same in each region''s partition; none of a section: nothing of it is loaded. Their cells stay in their files';
comment on column core.raster_tile.region_code is 'ISTAT region code; the partition key';
comment on column core.raster_tile.section is 'Section that has values of it';
comment on column core.raster_tile.source_id is 'Source that it is of';
comment on column core.raster_tile.name is 'As its publisher calls it, without the ending';
comment on column core.raster_tile.release_id is 'Release (ledger.release)';
comment on column core.raster_tile.member_id is 'File member (ledger.member)';
comment on column core.raster_tile.position is 'Ordinal of the raster in its member';
comment on column core.raster_tile.geom is 'The ground that its cells cover, EPSG:4326, with corners along its sides';

-- It asks for one thing more.
drop function if exists api.section_coverage(int4, text, geometry, text, bool);
