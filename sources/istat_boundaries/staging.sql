-- purpose: boundaries as they were read
-- reads: none
-- writes: staging.raw_boundary
-- grain: one row per accepted record
-- crs: the file's own, in the geometry's SRID

create unlogged table raw_boundary (
  member_id int4 not null,
  position int8 not null,
  kind text not null,
  code text not null,
  belfiore text,
  name text not null,
  vintage text not null,
  geom geometry not null
);
