-- purpose: the number of parcels that each publication changed, and how recent its sources are
-- reads: ledger.swap
-- writes: ledger.swap_count, ledger.swap_source
-- grain: one row per swap and comune, or per swap and source
-- crs: none

create table ledger.swap_count (
  swap_id int4 not null references ledger.swap on delete cascade,
  region_code int2 not null,
  belfiore text not null,
  added int4 not null,
  removed int4 not null,
  changed int4 not null,
  unchanged int4 not null,
  primary key (swap_id, region_code, belfiore)
);
comment on table ledger.swap_count is 'Parcels of each comune that a publication, rollback or withdrawal added, removed or changed. The changes themselves are in the schema history';
comment on column ledger.swap_count.swap_id is 'Swap (ledger.swap)';
comment on column ledger.swap_count.region_code is 'ISTAT code of the region; a publication of Italy has rows for each region';
comment on column ledger.swap_count.belfiore is 'Cadastral code of the comune: the comune after the change, or before it for a removed parcel';
comment on column ledger.swap_count.added is 'Parcels that were not published before';
comment on column ledger.swap_count.removed is 'Parcels that are no longer published';
comment on column ledger.swap_count.changed is 'Parcels with another value in any column of an export';
comment on column ledger.swap_count.unchanged is 'All other parcels';

create table ledger.swap_source (
  swap_id int4 not null references ledger.swap on delete cascade,
  source_id text not null,
  cut_off date,
  primary key (swap_id, source_id)
);
comment on table ledger.swap_source is 'Sources of a publication, and how recent their data is';
comment on column ledger.swap_source.swap_id is 'Swap (ledger.swap)';
comment on column ledger.swap_source.source_id is 'Source';
comment on column ledger.swap_source.cut_off is 'Last day of the period that the newest used file describes; null: the files have no date';
