-- purpose: what was applied to this database; the program makes the table before anything else, here it is described
-- reads: none
-- writes: ledger.applied_file
-- grain: one row per SQL file
-- crs: none

create table if not exists ledger.applied_file (
  file text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now(),
  version int4
);
comment on table ledger.applied_file is 'SQL files that made this database';
comment on column ledger.applied_file.file is 'Path from the root of the project';
comment on column ledger.applied_file.sha256 is 'Digest of what the file said when it was applied, without comments and layout';
comment on column ledger.applied_file.applied_at is 'When it was applied';
comment on column ledger.applied_file.version is 'Of a layer.sql: version of the source in its manifest; null: other files, or applied before versions were noted';
