-- purpose: OMI zones and quotations by region, and the zones of parcels
-- reads: none
-- writes: core.quotation_zone, core.quotation, section.valuation, section.valuation_history
-- grain: per zone and half-year; per zone, half-year, type and state; per parcel; per parcel and run of half-years in one zone
-- crs: none

create table core.quotation_zone (
  region_code int2 not null,
  half_year int2 not null,
  semester text not null,
  belfiore text not null,
  zona text not null,
  link_zona text not null,
  comune_name text not null,
  fascia text not null,
  description text,
  microzona int4,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  primary key (region_code, belfiore, zona, half_year)
) partition by list (region_code);
comment on table core.quotation_zone is 'OMI zones of each half-year, quoted or not; one partition per region';
comment on column core.quotation_zone.region_code is 'ISTAT region code';
comment on column core.quotation_zone.half_year is 'Half-year as a number: year × 2 + (half − 1)';
comment on column core.quotation_zone.semester is 'The same as it is shown: 2025_1';
comment on column core.quotation_zone.belfiore is 'Cadastral code of the comune in that half-year';
comment on column core.quotation_zone.zona is 'Zone code inside the comune';
comment on column core.quotation_zone.link_zona is 'Zone id of the half-year';
comment on column core.quotation_zone.comune_name is 'Name of the comune as OMI writes it';
comment on column core.quotation_zone.fascia is 'Band: B central, C semi-central, D peripheral, E suburban, R rural';
comment on column core.quotation_zone.description is 'What the zone comprises, in words; null: nothing said';
comment on column core.quotation_zone.microzona is 'Cadastral microzone; null: none given';
comment on column core.quotation_zone.release_id is 'Release it was read from (ledger.release)';
comment on column core.quotation_zone.member_id is 'File member it was read from (ledger.member)';
comment on column core.quotation_zone.position is 'Line of the file, from 1';

create table core.quotation (
  region_code int2 not null,
  half_year int2 not null,
  belfiore text not null,
  zona text not null,
  cod_tip int2 not null,
  type text not null,
  stato text,
  stato_prev bool not null,
  purchase_min_eur_m2 int4,
  purchase_max_eur_m2 int4,
  rental_min_eur_m2_month float8,
  rental_max_eur_m2_month float8,
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null
) partition by list (region_code);
comment on table core.quotation is 'OMI quotations of each half-year; one partition per region';
comment on column core.quotation.region_code is 'ISTAT region code';
comment on column core.quotation.half_year is 'Half-year as a number: year × 2 + (half − 1)';
comment on column core.quotation.belfiore is 'Cadastral code of the comune in that half-year';
comment on column core.quotation.zona is 'Zone code inside the comune';
comment on column core.quotation.cod_tip is 'Code of the type of building; residential: 1, 19, 20, 21, 22';
comment on column core.quotation.type is 'Type of building in words';
comment on column core.quotation.stato is 'State: NORMALE, OTTIMO, SCADENTE (of shops: the commercial position); null: none';
comment on column core.quotation.stato_prev is 'True for the prevalent state of the type in the zone';
comment on column core.quotation.purchase_min_eur_m2 is 'Lowest price, euro per square metre; null: not quoted';
comment on column core.quotation.purchase_max_eur_m2 is 'Highest price, euro per square metre; null: not quoted';
comment on column core.quotation.rental_min_eur_m2_month is 'Lowest rent, euro per square metre and month; null: not quoted';
comment on column core.quotation.rental_max_eur_m2_month is 'Highest rent, euro per square metre and month; null: not quoted';
comment on column core.quotation.release_id is 'Release it was read from (ledger.release)';
comment on column core.quotation.member_id is 'File member it was read from (ledger.member)';
comment on column core.quotation.position is 'Line of the file, from 1';
-- serves: the quotations of a zone, now and in its history
create index on core.quotation (belfiore, zona, half_year);

create table section.valuation (
  fid int4 primary key,
  belfiore text not null,
  zona text not null,
  half_year int2 not null,
  previous_belfiore text,
  previous_zona text
) partition by range (fid);
comment on table section.valuation is 'OMI zone of a parcel now and in the half-year before; the quotations are in core.quotation. No row: the representative point lies in no zone, or the parcel is a road or water';
comment on column section.valuation.fid is 'Parcel identifier';
comment on column section.valuation.belfiore is 'Comune of the zone, as OMI has it';
comment on column section.valuation.zona is 'Zone whose newest perimeter contains the representative point';
comment on column section.valuation.half_year is 'Newest half-year with quotations that has the comune: year × 2 + (half − 1)';
comment on column section.valuation.previous_belfiore is 'Comune of the zone in the half-year before; null: no zone then';
comment on column section.valuation.previous_zona is 'Zone in the half-year before; null: none';

create table section.valuation_history (
  fid int4 not null,
  since int2 not null,
  until int2 not null,
  belfiore text not null,
  zona text not null,
  then_belfiore text,
  then_zona text,
  primary key (fid, since)
) partition by range (fid);
comment on table section.valuation_history is 'OMI zones of a parcel over 22 half-years, one row per run of half-years in one zone; the runs of a parcel follow each other without gaps. No row: the representative point lies in no zone now, or the parcel is a road or water';
comment on column section.valuation_history.fid is 'Parcel identifier';
comment on column section.valuation_history.since is 'First half-year of the run: year × 2 + (half − 1)';
comment on column section.valuation_history.until is 'Last half-year of the run';
comment on column section.valuation_history.belfiore is 'Comune of the current zone';
comment on column section.valuation_history.zona is 'Current zone: the one whose newest perimeter contains the representative point';
comment on column section.valuation_history.then_belfiore is 'Comune of the zone in this run; null: no zone';
comment on column section.valuation_history.then_zona is 'Zone in this run: by its perimeters of then; where the comune has none of then, the zone of the current code if it existed; null: none';
