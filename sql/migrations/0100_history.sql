-- purpose: when which publication was in force, and a place for rows that no longer are
-- reads: ledger.publication
-- writes: ledger.swap
-- grain: one row per swap of a region, or of Italy
-- crs: none

create schema if not exists history;
comment on schema history is 'Rows that were in force and no longer are, one table for each that a parcel''s record is read from';

create table ledger.swap (
  swap_id int4 generated always as identity primary key,
  unit_code int2 not null,
  publication_id int4 references ledger.publication,
  happened_at timestamptz not null,
  kept_from timestamptz
);
comment on table ledger.swap is 'Every time that another publication of a region (0: Italy) came into force: by being published, by rollback, or none by withdrawal';
comment on column ledger.swap.swap_id is 'Number of the swap; later ones of a region have larger numbers';
comment on column ledger.swap.unit_code is 'ISTAT region code, 0: Italy';
comment on column ledger.swap.publication_id is 'Publication in force from then on; null: none, the region was withdrawn';
comment on column ledger.swap.happened_at is 'When readers began to see it';
comment on column ledger.swap.kept_from is 'Of what was in force before this moment nothing is kept; null: nothing was, or a later swap of the region says it';
-- serves: what was in force of a region at a moment
create index swap_unit_code_idx on ledger.swap (unit_code, swap_id);

-- What is in force now was published then; who was in force in between nobody noted.
insert into ledger.swap (unit_code, publication_id, happened_at, kept_from)
select
  p.unit_code,
  p.publication_id,
  p.published_at,
  now()
from ledger.publication p
where p.state = 'current'
order by p.publication_id;
