-- purpose: rows of INDIR and STRAD as they are read
-- reads: none
-- writes: staging.raw_access, staging.raw_street
-- grain: raw_access: one row per line of INDIR, with its street where the street stands for the first time, else null; raw_street: one row per line of STRAD
-- crs: coordinates as published, EPSG:6706 degrees, x longitude, y latitude
create unlogged table raw_access (
  member_id int4 not null,
  position int8 not null,
  progressivo_accesso int8 not null,
  progressivo_nazionale int8 not null,
  belfiore text not null,
  codice_comunale_accesso text,
  civico int4,
  esponente text,
  specificita text,
  metrico int4,
  progressivo_snc int4,
  coord_x float8,
  coord_y float8,
  quota_m float8,
  metodo int2,
  -- istat_code, codice_comunale, odonimo, localita, name_1, name_2, display_name, display_localita, localita_key
  street text[],
  search_kinds text[],
  search_types text[],
  search_tokens text[]
);

create unlogged table raw_street (
  member_id int4 not null,
  position int8 not null,
  progressivo_nazionale int8 not null,
  belfiore text not null,
  istat_code text,
  codice_comunale text,
  odonimo text not null,
  localita text,
  name_1 text,
  name_2 text,
  total_accesses int4,
  display_name text not null,
  display_localita text,
  localita_key text,
  search_kinds text[] not null,
  search_types text[] not null,
  search_tokens text[] not null
);
