-- purpose: OMI quotations, zones and perimeters of each half-year
-- reads: none
-- writes: layer.omi_quotation, layer.omi_zone, layer.omi_perimeter
-- grain: one row per zone, type and state; per zone; per drawn zone
-- crs: EPSG:4326, longitude latitude

create table layer.omi_quotation (
  release_id int4 not null,
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
) partition by list (release_id);
comment on table layer.omi_quotation is 'OMI quotations (VALORI): price ranges of a zone by type of building and state';
comment on column layer.omi_quotation.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.omi_quotation.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.omi_quotation.position is 'Line of the file, from 1.';
comment on column layer.omi_quotation.semester is 'Half-year, 2025_1';
comment on column layer.omi_quotation.half_year is 'Half-year as a number: year × 2 + (half − 1)';
comment on column layer.omi_quotation.elaborated is 'Day of the elaboration in the title line';
comment on column layer.omi_quotation.region_code is 'ISTAT region code of the region that OMI names';
comment on column layer.omi_quotation.belfiore is 'Cadastral code of the comune';
comment on column layer.omi_quotation.comune_name is 'Name of the comune as OMI writes it';
comment on column layer.omi_quotation.fascia is 'Band: B central, C semi-central, D peripheral, E suburban, R rural';
comment on column layer.omi_quotation.zona is 'Zone code inside the comune';
comment on column layer.omi_quotation.link_zona is 'Zone id of the half-year';
comment on column layer.omi_quotation.cod_tip is 'Code of the type of building';
comment on column layer.omi_quotation.type is 'Name of the type of building';
comment on column layer.omi_quotation.stato is 'State: NORMALE, OTTIMO, SCADENTE (for shops: the commercial position); null for garages and parking spaces';
comment on column layer.omi_quotation.stato_prev is 'True for the prevalent state of the type in the zone';
comment on column layer.omi_quotation.purchase_min_eur_m2 is 'Lowest price, euro per square metre; null if not quoted';
comment on column layer.omi_quotation.purchase_max_eur_m2 is 'Highest price, euro per square metre; null if not quoted';
comment on column layer.omi_quotation.purchase_surface is 'Surface that the price refers to: L gross, N net; null if not stated';
comment on column layer.omi_quotation.rental_min_eur_m2_month is 'Lowest rent, euro per square metre and month; null if not quoted';
comment on column layer.omi_quotation.rental_max_eur_m2_month is 'Highest rent, euro per square metre and month; null if not quoted';
comment on column layer.omi_quotation.rental_surface is 'Surface that the rent refers to: L gross, N net; null if not stated. Provinces change it between half-years: a change of definition, not of the market';

create table layer.omi_zone (
  release_id int4 not null,
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
) partition by list (release_id);
comment on table layer.omi_zone is 'OMI zones (ZONE) of a half-year, including zones without quotations';
comment on column layer.omi_zone.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.omi_zone.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.omi_zone.position is 'Line of the file, from 1.';
comment on column layer.omi_zone.semester is 'Half-year, 2025_1';
comment on column layer.omi_zone.half_year is 'Half-year as a number: year × 2 + (half − 1)';
comment on column layer.omi_zone.elaborated is 'Day of the elaboration in the title line';
comment on column layer.omi_zone.region_code is 'ISTAT region code of the region that OMI names';
comment on column layer.omi_zone.belfiore is 'Cadastral code of the comune';
comment on column layer.omi_zone.comune_name is 'Name of the comune as OMI writes it';
comment on column layer.omi_zone.fascia is 'Band: B central, C semi-central, D peripheral, E suburban, R rural';
comment on column layer.omi_zone.zona is 'Zone code inside the comune';
comment on column layer.omi_zone.link_zona is 'Zone id of the half-year';
comment on column layer.omi_zone.description is 'Description of the zone; null if none';
comment on column layer.omi_zone.prevalent_cod_tip is 'Code of the prevalent type of building, or of the prevalent crop in rural zones; null if none';
comment on column layer.omi_zone.prevalent_type is 'Name of the prevalent type; null if none';
comment on column layer.omi_zone.prevalent_stato is 'Prevalent state: NORMALE, OTTIMO, SCADENTE; null if none';
comment on column layer.omi_zone.microzona is 'Cadastral microzone; null if none (0 or blank in the source)';

create table layer.omi_perimeter (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  semester text not null,
  half_year int2 not null,
  generated date,
  belfiore text not null,
  zona text not null,
  made_valid bool not null,
  geom geometry(multipolygon, 4326) not null
) partition by list (release_id);
comment on table layer.omi_perimeter is 'Perimeters of OMI zones (KML) of a half-year';
comment on column layer.omi_perimeter.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.omi_perimeter.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.omi_perimeter.position is 'Number of the placemark in the file, from 1.';
comment on column layer.omi_perimeter.semester is 'Half-year, 2025_1';
comment on column layer.omi_perimeter.half_year is 'Half-year as a number: year × 2 + (half − 1)';
comment on column layer.omi_perimeter.generated is 'Day on which the file was generated; null if not stated';
comment on column layer.omi_perimeter.belfiore is 'Cadastral code of the comune';
comment on column layer.omi_perimeter.zona is 'Zone code inside the comune';
comment on column layer.omi_perimeter.made_valid is 'True if the published polygon was invalid and was repaired';
comment on column layer.omi_perimeter.geom is 'The zone, EPSG:4326 longitude latitude, parts and holes as published';
