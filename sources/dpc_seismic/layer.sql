-- purpose: the seismic zone of each comune
-- reads: none
-- writes: layer.seismic_zone
-- grain: one row per comune
-- crs: none

create table layer.seismic_zone (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  istat_code text not null,
  name text not null,
  sigla text,
  region_name text not null,
  label text not null,
  zone int2 not null
) partition by list (release_id);
comment on table layer.seismic_zone is 'Seismic classification of comuni (Dipartimento della Protezione Civile)';
comment on column layer.seismic_zone.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.seismic_zone.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.seismic_zone.position is 'Line of the file, from 1.';
comment on column layer.seismic_zone.istat_code is 'ISTAT code of the comune in the year of the edition, 6 digits, text';
comment on column layer.seismic_zone.name is 'Name of the comune as published';
comment on column layer.seismic_zone.sigla is 'Car plate code of the province; null if the edition has none';
comment on column layer.seismic_zone.region_name is 'Name of the region as published';
comment on column layer.seismic_zone.label is 'Zone as published, with its subzones. Several if the comune is divided: 2A-3A-3B';
comment on column layer.seismic_zone.zone is 'Most severe zone of the label: 1 (highest hazard) – 4';
-- serves: the zone of a parcel's comune
create index on layer.seismic_zone (istat_code);
