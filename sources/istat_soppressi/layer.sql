-- purpose: suppressed comuni and the comuni that took over their territory
-- reads: none
-- writes: layer.comune_suppressed
-- grain: one row per suppressed comune, event and comune that took over a part
-- crs: none

create table layer.comune_suppressed (
  release_id int4 not null,
  member_id int4 not null,
  position int8 not null,
  istat_code text not null,
  name text not null,
  province_code text not null,
  sigla text not null,
  divided bool not null,
  event_date date not null,
  successor_istat_code text,
  successor_name text not null
) partition by list (release_id);
comment on table layer.comune_suppressed is 'Suppressed comuni (ISTAT) and the comuni that took over their territory';
comment on column layer.comune_suppressed.release_id is 'Release of the row (ledger.release). Partition key.';
comment on column layer.comune_suppressed.member_id is 'Member that the row was read from (ledger.member).';
comment on column layer.comune_suppressed.position is 'Line of the file, from 1.';
comment on column layer.comune_suppressed.istat_code is 'ISTAT code of the suppressed comune, 6 digits, text';
comment on column layer.comune_suppressed.name is 'Name of the suppressed comune';
comment on column layer.comune_suppressed.province_code is 'Province of the suppressed comune (UTS), 3 digits, text';
comment on column layer.comune_suppressed.sigla is 'Car plate code of the province of the suppressed comune';
comment on column layer.comune_suppressed.divided is 'True if the territory was divided. It then has a row for each comune that took over a part';
comment on column layer.comune_suppressed.event_date is 'Day of the suppression';
comment on column layer.comune_suppressed.successor_istat_code is 'ISTAT code of the comune that took over, as of that day (possibly suppressed since); null if abroad';
comment on column layer.comune_suppressed.successor_name is 'Name of the comune that took over, or Stato estero';
-- serves: the successors of a code
create index on layer.comune_suppressed (istat_code);
