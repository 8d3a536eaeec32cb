-- purpose: OMI records as they were read, before duplicates are told apart
-- reads: none
-- writes: staging.raw_quotation, staging.raw_zone, staging.raw_perimeter
-- grain: one row per accepted record
-- crs: perimeters EPSG:4326, longitude latitude, as published

create unlogged table raw_quotation (
  member_id int4 not null,
  position int8 not null,
  semester text not null,
  half_year int2 not null,
  elaborated date not null,
  region_code int2 not null,
  belfiore text not null,
  comune_name text not null,
  fascia text not null,
  zona text not null,
  link_zona text not null,
  cod_tip int2 not null,
  type text not null,
  stato text,
  stato_prev bool not null,
  purchase_min_eur_m2 int4,
  purchase_max_eur_m2 int4,
  purchase_surface text,
  rental_min_eur_m2_month float8,
  rental_max_eur_m2_month float8,
  rental_surface text
);

create unlogged table raw_zone (
  member_id int4 not null,
  position int8 not null,
  semester text not null,
  half_year int2 not null,
  elaborated date not null,
  region_code int2 not null,
  belfiore text not null,
  comune_name text not null,
  fascia text not null,
  zona text not null,
  link_zona text not null,
  description text,
  prevalent_cod_tip int2,
  prevalent_type text,
  prevalent_stato text,
  microzona int4
);

create unlogged table raw_perimeter (
  member_id int4 not null,
  position int8 not null,
  semester text not null,
  half_year int2 not null,
  generated date,
  belfiore text not null,
  zona text not null,
  geom geometry(multipolygon, 4326) not null
);
