-- purpose: streets and access points of the national address archive
-- reads: none
-- writes: layer.odonimo, layer.odonimo_indir, layer.accesso
-- grain: odonimo: one row per street of STRAD; odonimo_indir: one row per street that only INDIR names; accesso: one row per access
-- crs: EPSG:4326
create table layer.odonimo (
  release_id int4 not null,
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
) partition by list (release_id);

comment on table layer.odonimo is 'Streets of STRAD, including streets without an access.';
comment on column layer.odonimo.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.odonimo.member_id is 'Member that the row was read from (ledger.member): the CSV.';
comment on column layer.odonimo.position is 'Line of the CSV; the header is line 1.';
comment on column layer.odonimo.progressivo_nazionale is 'PROGRESSIVO_NAZIONALE: key of the street, unique in Italy.';
comment on column layer.odonimo.belfiore is 'CODICE_COMUNE: cadastral code of the comune.';
comment on column layer.odonimo.istat_code is 'CODICE_ISTAT as published, 6 digits. It lags behind ISTAT where provinces were renumbered; null if not stated.';
comment on column layer.odonimo.codice_comunale is 'CODICE_COMUNALE: the comune''s own code of the street, not unique; null if not stated.';
comment on column layer.odonimo.odonimo is 'ODONIMO: type and name of the street as published, usually upper case.';
comment on column layer.odonimo.localita is 'LOCALITA'': part of the comune; null if not stated.';
comment on column layer.odonimo.name_1 is 'DIZIONE_LINGUA1: name in a minority language; null if none.';
comment on column layer.odonimo.name_2 is 'DIZIONE_LINGUA2: name in a second minority language; null if none.';
comment on column layer.odonimo.total_accesses is 'TOTALE_ACCESSI: number of accesses that the publisher counts; null if not stated, or if only INDIR has the street.';
comment on column layer.odonimo.display_name is 'ODONIMO in Italian title case.';
comment on column layer.odonimo.display_localita is 'LOCALITA'' in Italian title case; null if not stated.';
comment on column layer.odonimo.localita_key is 'LOCALITA'' normalised for search; null if not stated or nothing is left after normalisation.';
comment on column layer.odonimo.search_kinds is 'Origin of each search name: odonimo, lingua1 or lingua2. Same length as search_tokens.';
comment on column layer.odonimo.search_types is 'Normalised street type of each search name; a null element means none.';
comment on column layer.odonimo.search_tokens is 'Normalised words of each search name, separated by blanks.';

create table layer.odonimo_indir (
  release_id int4 not null,
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
) partition by list (release_id);

comment on table layer.odonimo_indir is 'Streets named in the lines of INDIR. member_id and position are those of the first access of the street.';
comment on column layer.odonimo_indir.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.odonimo_indir.member_id is 'Member that the row was read from (ledger.member): the CSV.';
comment on column layer.odonimo_indir.position is 'Line of the CSV; the header is line 1.';
comment on column layer.odonimo_indir.progressivo_nazionale is 'PROGRESSIVO_NAZIONALE: key of the street, unique in Italy.';
comment on column layer.odonimo_indir.belfiore is 'CODICE_COMUNE: cadastral code of the comune.';
comment on column layer.odonimo_indir.istat_code is 'CODICE_ISTAT as published, 6 digits. It lags behind ISTAT where provinces were renumbered; null if not stated.';
comment on column layer.odonimo_indir.codice_comunale is 'CODICE_COMUNALE: the comune''s own code of the street, not unique; null if not stated.';
comment on column layer.odonimo_indir.odonimo is 'ODONIMO: type and name of the street as published, usually upper case.';
comment on column layer.odonimo_indir.localita is 'LOCALITA'': part of the comune; null if not stated.';
comment on column layer.odonimo_indir.name_1 is 'DIZIONE_LINGUA1: name in a minority language; null if none.';
comment on column layer.odonimo_indir.name_2 is 'DIZIONE_LINGUA2: name in a second minority language; null if none.';
comment on column layer.odonimo_indir.total_accesses is 'TOTALE_ACCESSI: number of accesses that the publisher counts; null if not stated, or if only INDIR has the street.';
comment on column layer.odonimo_indir.display_name is 'ODONIMO in Italian title case.';
comment on column layer.odonimo_indir.display_localita is 'LOCALITA'' in Italian title case; null if not stated.';
comment on column layer.odonimo_indir.localita_key is 'LOCALITA'' normalised for search; null if not stated or nothing is left after normalisation.';
comment on column layer.odonimo_indir.search_kinds is 'Origin of each search name: odonimo, lingua1 or lingua2. Same length as search_tokens.';
comment on column layer.odonimo_indir.search_types is 'Normalised street type of each search name; a null element means none.';
comment on column layer.odonimo_indir.search_tokens is 'Normalised words of each search name, separated by blanks.';

create table layer.accesso (
  release_id int4 not null,
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
  geom geometry(point, 4326),
  quota_m float8,
  metodo int2,
  coordinate_flag text not null
) partition by list (release_id);

comment on table layer.accesso is 'Accesses (numeri civici) of INDIR.';
comment on column layer.accesso.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.accesso.member_id is 'Member that the row was read from (ledger.member): the CSV.';
comment on column layer.accesso.position is 'Line of the CSV; the header is line 1.';
comment on column layer.accesso.progressivo_accesso is 'PROGRESSIVO_ACCESSO: key of the access, unique in Italy and the same in every release.';
comment on column layer.accesso.progressivo_nazionale is 'Key of the street of the access.';
comment on column layer.accesso.belfiore is 'Cadastral code of the comune.';
comment on column layer.accesso.codice_comunale_accesso is 'The comune''s own code of the access, alphanumeric; null if not stated.';
comment on column layer.accesso.civico is 'Number; null if the access is numbered by METRICO or not at all. For an access without number (progressivo_snc): the preceding number.';
comment on column layer.accesso.esponente is 'Exponent as published (A, BIS, 13, ESC); null if none.';
comment on column layer.accesso.specificita is 'ROSSO or NERO where a comune has two series of numbers, as published; null if none.';
comment on column layer.accesso.metrico is 'Metres along the street; null if the access is numbered by civico or not at all.';
comment on column layer.accesso.progressivo_snc is 'Ordinal among the accesses without number after civico or metrico; null if the access has a number or nothing was stated.';
comment on column layer.accesso.geom is 'Access point on the street front, EPSG:4326 longitude latitude (published in EPSG:6706, which PROJ treats as identical); null: see coordinate_flag.';
comment on column layer.accesso.quota_m is 'Orthometric height in metres as published; 0 is often meaningless; null if not stated.';
comment on column layer.accesso.metodo is 'Method by which the point was found: 1 survey < 5 m, 2 survey ≥ 5 m, 3 indirect < 5 m, 4 indirect ≥ 5 m, 5 Portale per i Comuni; null if not stated.';
comment on column layer.accesso.coordinate_flag is 'good; without_method (point kept); none (not published); method_without_coordinates; incomplete (one of two); zero; swapped; projected (metres); outside_italy. All but the first two have no geom.';
