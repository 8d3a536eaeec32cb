-- purpose: parcels and sheets as they were read
-- reads: none
-- writes: staging.raw_parcel, staging.raw_sheet
-- grain: one row per feature that the reader accepted
-- crs: RDN2008 (EPSG:6706), longitude before latitude

create unlogged table raw_parcel (
  member_id int4 not null,
  position int8 not null,
  reference text not null,
  administrative_unit text,
  file_belfiore text,
  geom geometry(multipolygon, 6706) not null
);

create unlogged table raw_sheet (
  member_id int4 not null,
  position int8 not null,
  reference text not null,
  label text not null,
  begin_date date,
  end_date date,
  scale_denominator int4,
  administrative_unit text,
  file_belfiore text,
  geom geometry(multipolygon, 6706) not null
);
