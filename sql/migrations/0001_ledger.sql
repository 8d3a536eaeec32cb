-- purpose: schemas, and the ledger of runs, releases, files, rejects and publications
-- reads: none
-- writes: ledger.run, ledger.step, ledger.seen_file, ledger.release, ledger.file, ledger.member, ledger.reject, ledger.duplicate, ledger.built, ledger.publication, ledger.publication_table, ledger.attribution
-- grain: one row per thing that happened
-- crs: none

create extension if not exists postgis;
create extension if not exists pg_trgm;
create extension if not exists unaccent;
create extension if not exists fuzzystrmatch;

create schema if not exists layer;
create schema if not exists core;
create schema if not exists section;
create schema if not exists previous;
create schema if not exists api;
comment on schema ledger is 'What was read, what was made of it, what was published';
comment on schema layer is 'Clean rows of each release of each source, one partition per release';
comment on schema core is 'Published tables that are not sections: parcels, comuni, streets, addresses, zones';
comment on schema section is 'Published section rows of parcels, keyed by fid, one partition per region';
comment on schema previous is 'Partitions that were published before, kept for rollback until pruned';
comment on schema api is 'The only functions that the server may execute';

create table ledger.run (
  run_id int4 generated always as identity primary key,
  command text not null,
  arguments jsonb not null,
  version text not null,
  host text not null,
  pid int4 not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  outcome text check (outcome in ('done', 'failed', 'interrupted')),
  exit_code int2,
  report jsonb
);
comment on table ledger.run is 'One row per command that writes; ended_at null: running, or killed';
comment on column ledger.run.run_id is 'Number of the run';
comment on column ledger.run.command is 'Command as typed, without its arguments';
comment on column ledger.run.arguments is 'Options as the command understood them';
comment on column ledger.run.version is 'Version of the program';
comment on column ledger.run.host is 'Machine that ran it';
comment on column ledger.run.pid is 'Process id on that machine';
comment on column ledger.run.started_at is 'When it began';
comment on column ledger.run.ended_at is 'When it ended; null: running, or killed';
comment on column ledger.run.outcome is 'done, failed or interrupted; null: running, or killed';
comment on column ledger.run.exit_code is 'Exit code of the process; null: running, or killed';
comment on column ledger.run.report is 'Error of a failed run; null: none';

create table ledger.step (
  step_id int8 generated always as identity primary key,
  run_id int4 not null references ledger.run,
  step text not null,
  subject text not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  detail jsonb
);
comment on table ledger.step is 'One row per step of a run, subject says of what; ended_at null: unfinished';
comment on column ledger.step.step_id is 'Number of the step';
comment on column ledger.step.run_id is 'Run it belongs to';
comment on column ledger.step.step is 'recover, stage, load, join, check, guard or publish';
comment on column ledger.step.subject is 'Release or region that it worked on';
comment on column ledger.step.started_at is 'When it began';
comment on column ledger.step.ended_at is 'When it ended; null: it did not';
comment on column ledger.step.detail is 'Facts worth keeping; null: none';

create table ledger.seen_file (
  path text primary key,
  size int8 not null,
  modified_ms int8 not null,
  sha256 text,
  recogniser text not null,
  recognition jsonb
);
comment on table ledger.seen_file is 'What a file was found to be when it was last looked at, so that an unchanged file is not read again; recognition null: no source reads it';
comment on column ledger.seen_file.path is 'Absolute path';
comment on column ledger.seen_file.size is 'Bytes';
comment on column ledger.seen_file.modified_ms is 'Time of last change, milliseconds since 1970';
comment on column ledger.seen_file.sha256 is 'Digest of the content; null: not hashed yet';
comment on column ledger.seen_file.recogniser is 'Digest of the readers that looked at it';
comment on column ledger.seen_file.recognition is 'Source and role; null: no source reads it';

create table ledger.release (
  release_id int4 generated always as identity primary key,
  source_id text not null,
  vintage text not null,
  region_code int2,
  fingerprint text not null unique,
  reader text not null,
  complete bool not null,
  state text not null check (state in ('staging', 'loaded', 'failed')),
  records int8,
  rows int8,
  rejects int8,
  duplicates int8,
  failure jsonb,
  layers jsonb,
  last_seen_run int4,
  created_at timestamptz not null default now(),
  loaded_at timestamptz
);
comment on table ledger.release is 'One vintage of one source for one region (null: all of Italy, or as its rows say); fingerprint covers the files and the reader, so a loaded release never changes';
comment on column ledger.release.release_id is 'Number of the release';
comment on column ledger.release.source_id is 'Source, the name of its folder';
comment on column ledger.release.vintage is 'Vintage, sorts as text';
comment on column ledger.release.region_code is 'ISTAT region code; null: all of Italy, or as its rows say';
comment on column ledger.release.fingerprint is 'Digest of the files, the reader and the releases that load.sql looked things up in';
comment on column ledger.release.reader is 'Digest of the code that read it';
comment on column ledger.release.complete is 'False: a part (one comune, one tile)';
comment on column ledger.release.state is 'staging, loaded or failed';
comment on column ledger.release.records is 'Records in its files; null: not loaded';
comment on column ledger.release.rows is 'Records that became rows of layers; null: not loaded';
comment on column ledger.release.rejects is 'Records refused; null: not loaded';
comment on column ledger.release.duplicates is 'Records that repeat another; null: not loaded';
comment on column ledger.release.failure is 'Error that stopped it; null: none';
comment on column ledger.release.layers is 'Rows of each layer; null: not loaded. A layer that a release leaves empty is taken from the release before';
comment on column ledger.release.last_seen_run is 'Last run that found its files: of two releases of one vintage the one seen last counts; null: not loaded';
comment on column ledger.release.created_at is 'When it was first met';
comment on column ledger.release.loaded_at is 'When its layers were attached; null: not loaded';

create table ledger.file (
  file_id int4 generated always as identity primary key,
  release_id int4 not null references ledger.release on delete cascade,
  path text not null,
  name text not null,
  role text not null,
  sha256 text not null,
  size int8 not null
);
comment on table ledger.file is 'The files of a release';
comment on column ledger.file.file_id is 'Number of the file';
comment on column ledger.file.release_id is 'Release it belongs to';
comment on column ledger.file.path is 'Absolute path when it was read';
comment on column ledger.file.name is 'File name';
comment on column ledger.file.role is 'Kind of file inside its source';
comment on column ledger.file.sha256 is 'Digest of the file and its sidecars';
comment on column ledger.file.size is 'Bytes';
-- serves: files of a release
create index file_release_id_idx on ledger.file (release_id);

create table ledger.member (
  member_id int4 generated always as identity primary key,
  release_id int4 not null references ledger.release on delete cascade,
  file_id int4 not null references ledger.file on delete cascade,
  path text not null,
  crc32 int8,
  size int8,
  before text,
  after text,
  records int8,
  rows int8,
  rejects int8,
  duplicates int8
);
comment on table ledger.member is 'Parts of files that hold records: the file itself (path empty) or entries of zips; records = rows + rejects + duplicates';
comment on column ledger.member.member_id is 'Number of the member, stamped on every row of a layer';
comment on column ledger.member.release_id is 'Release it belongs to';
comment on column ledger.member.file_id is 'File it is in';
comment on column ledger.member.path is 'Path inside the file; empty: the file itself';
comment on column ledger.member.crc32 is 'CRC-32 of the zip entry; null: not in a zip';
comment on column ledger.member.size is 'Bytes of the zip entry; null: not in a zip';
comment on column ledger.member.before is 'What stands before a raw record to make a readable file; null: records cannot stand alone';
comment on column ledger.member.after is 'What stands after it; null: nothing';
comment on column ledger.member.records is 'Records by an independent count; null: not read to the end';
comment on column ledger.member.rows is 'Records that became rows; null: not read to the end';
comment on column ledger.member.rejects is 'Records refused; null: not read to the end';
comment on column ledger.member.duplicates is 'Records that repeat another; null: not read to the end';
-- serves: members of a release, reuse by the next one
create index member_release_id_idx on ledger.member (release_id);

create table ledger.reject (
  reject_id int8 generated always as identity primary key,
  release_id int4 not null references ledger.release on delete cascade,
  member_id int4 not null references ledger.member on delete cascade,
  step text not null check (step in ('stage', 'load')),
  position int8 not null,
  code text not null,
  message text not null,
  raw bytea not null
);
comment on table ledger.reject is 'Records that were not accepted, with the bytes as published, so that they can be tried again';
comment on column ledger.reject.reject_id is 'Number of the reject';
comment on column ledger.reject.release_id is 'Release it belongs to';
comment on column ledger.reject.member_id is 'File member it stands in';
comment on column ledger.reject.step is 'stage: refused by the reader; load: by SQL';
comment on column ledger.reject.position is 'Line, byte offset or feature number in the member';
comment on column ledger.reject.code is 'Stable reason';
comment on column ledger.reject.message is 'expected … found …';
comment on column ledger.reject.raw is 'The record as published';
-- serves: the list of rejects
create index reject_release_id_idx on ledger.reject (release_id);

create table ledger.duplicate (
  release_id int4 not null references ledger.release on delete cascade,
  member_id int4 not null references ledger.member on delete cascade,
  code text not null,
  records int8 not null,
  primary key (member_id, code)
);
comment on table ledger.duplicate is 'Records that said again what another one said, counted per member and reason';
comment on column ledger.duplicate.release_id is 'Release';
comment on column ledger.duplicate.member_id is 'File member';
comment on column ledger.duplicate.code is 'Stable reason';
comment on column ledger.duplicate.records is 'How many';

create table ledger.built (
  unit_code int2 not null,
  relation text not null,
  fingerprint text not null,
  primary key (unit_code, relation)
);
comment on table ledger.built is 'Tables that lie finished in the workspace of a region (0: Italy), so that an interrupted build goes on';
comment on column ledger.built.unit_code is 'ISTAT region code, 0: Italy';
comment on column ledger.built.relation is 'Table, schema.name';
comment on column ledger.built.fingerprint is 'Digest of what made it';

create table ledger.publication (
  publication_id int4 generated always as identity primary key,
  unit_code int2 not null,
  run_id int4 not null references ledger.run,
  state text not null check (state in ('current', 'previous', 'past')),
  reason text,
  published_at timestamptz not null default now()
);
comment on table ledger.publication is 'One row per swap of a region (0: Italy); exactly one is current per region, at most one previous';
comment on column ledger.publication.publication_id is 'Number of the publication';
comment on column ledger.publication.unit_code is 'ISTAT region code, 0: Italy';
comment on column ledger.publication.run_id is 'Run that published it';
comment on column ledger.publication.state is 'current, previous or past';
comment on column ledger.publication.reason is 'Why it was accepted although the guards objected; null: they did not';
comment on column ledger.publication.published_at is 'When it came into force';
-- serves: the publication in force, and that there is one
create unique index publication_current_idx on ledger.publication (unit_code) where state = 'current';
-- serves: the publication to go back to, and that there is one
create unique index publication_previous_idx on ledger.publication (unit_code) where state = 'previous';

create table ledger.publication_table (
  publication_id int4 not null references ledger.publication on delete cascade,
  relation text not null,
  partition text not null,
  fingerprint text not null,
  inputs jsonb not null,
  rows int8 not null,
  digest text not null,
  primary key (publication_id, relation)
);
comment on table ledger.publication_table is 'The tables of a publication: parent relation, name of the partition that holds it, fingerprint of what made it, digest of its content';
comment on column ledger.publication_table.publication_id is 'Publication';
comment on column ledger.publication_table.relation is 'Parent table, schema.name';
comment on column ledger.publication_table.partition is 'Name of the partition (of the table, when it is swapped whole)';
comment on column ledger.publication_table.fingerprint is 'Digest of what made it';
comment on column ledger.publication_table.inputs is 'What made it: SQL files, tables and releases with their fingerprints';
comment on column ledger.publication_table.rows is 'Rows';
comment on column ledger.publication_table.digest is 'Digest of the content, independent of order and of ledger numbers';

create table ledger.attribution (
  publication_id int4 not null references ledger.publication on delete cascade,
  section text not null,
  source_id text not null,
  source text not null,
  holder text not null,
  license text not null,
  url text not null,
  reference_period text not null,
  attribution text not null,
  primary key (publication_id, section, source_id)
);
comment on table ledger.attribution is 'What each section of a publication was made from, in the words that must be shown';
comment on column ledger.attribution.publication_id is 'Publication';
comment on column ledger.attribution.section is 'Section, or * for those that every answer shows';
comment on column ledger.attribution.source_id is 'Source';
comment on column ledger.attribution.source is 'Title of the source';
comment on column ledger.attribution.holder is 'Who holds the data';
comment on column ledger.attribution.license is 'Licence';
comment on column ledger.attribution.url is 'Where it is published';
comment on column ledger.attribution.reference_period is 'Vintages used; empty: none loaded';
comment on column ledger.attribution.attribution is 'Words that must be shown';
