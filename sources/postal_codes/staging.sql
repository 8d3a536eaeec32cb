-- purpose: postal codes as the operator's files give them
-- reads: none
-- writes: staging.raw_postal_code, staging.raw_postal_code_area
-- grain: one row per pair of comune and postal code; per polygon
-- crs: polygons in the CRS of their file

create unlogged table raw_postal_code (
  member_id int4 not null,
  position int8 not null,
  edition text not null,
  belfiore text,
  istat_code text,
  cap text not null
);

create unlogged table raw_postal_code_area (
  member_id int4 not null,
  position int8 not null,
  edition text not null,
  cap text not null,
  geom geometry not null
);
