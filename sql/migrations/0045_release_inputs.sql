-- purpose: what each release was read with, so that a change of it can be told in words
-- reads: ledger.release
-- writes: none
-- grain: one row per release
-- crs: none

alter table ledger.release add column inputs jsonb;
comment on column ledger.release.inputs is 'What it was read with: version of the source, digests of its SQL, versions of the engine; null: read before that was noted';
