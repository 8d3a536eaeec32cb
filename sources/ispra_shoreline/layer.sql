-- purpose: stretches of shore, their change, and the area that they cover
-- reads: none
-- writes: layer.shoreline_segment, layer.shoreline_coverage
-- grain: one row per published segment; one per member
-- crs: EPSG:4326

create table layer.shoreline_segment (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  dynamic text,
  avg_change_m_year float8,
  geom geometry(multilinestring, 4326) not null
) partition by list (release_id);

comment on table layer.shoreline_segment is 'Low coast, segment by segment, with its change between two surveys of ISPRA. Rocky coast and harbours are not in it. History, not forecast.';
comment on column layer.shoreline_segment.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.shoreline_segment.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.shoreline_segment.position is 'Number of the feature in its layer, from 1.';
comment on column layer.shoreline_segment.dynamic is 'erosion or accretion if the segment moved by more than 5 m between the surveys, otherwise stable; null if the publisher has no information.';
comment on column layer.shoreline_segment.avg_change_m_year is 'Mean change in metres per year, positive seaward; null if not published.';
comment on column layer.shoreline_segment.geom is 'The segment, EPSG:4326.';

create table layer.shoreline_coverage (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  regions int2[] not null
) partition by list (release_id);

comment on table layer.shoreline_coverage is 'Regions that the segments of each member cover. Outside them a shore without a segment is not stable: its change is unknown.';
comment on column layer.shoreline_coverage.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.shoreline_coverage.member_id is 'Member that the row was read from (ledger.member): a file or a layer.';
comment on column layer.shoreline_coverage.position is 'Number of the member''s first feature.';
comment on column layer.shoreline_coverage.regions is 'ISTAT codes of the regions whose boxes (core.region_box) a segment overlaps.';
