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

create table ledger.seen_file (
  path text primary key,
  size int8 not null,
  modified_ms int8 not null,
  sha256 text,
  recogniser text not null,
  recognition jsonb
);
comment on table ledger.seen_file is 'What a file was found to be when it was last looked at, so that an unchanged file is not read again; recognition null: no source reads it';

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
  created_at timestamptz not null default now(),
  loaded_at timestamptz
);
comment on table ledger.release is 'One vintage of one source for one region (null: all of Italy, or as its rows say); fingerprint covers the files and the reader, so a loaded release never changes';

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
create index reject_release_id_idx on ledger.reject (release_id);

create table ledger.duplicate (
  release_id int4 not null references ledger.release on delete cascade,
  member_id int4 not null references ledger.member on delete cascade,
  code text not null,
  records int8 not null,
  primary key (member_id, code)
);
comment on table ledger.duplicate is 'Records that said again what another one said, counted per member and reason';

create table ledger.built (
  unit_code int2 not null,
  relation text not null,
  fingerprint text not null,
  primary key (unit_code, relation)
);
comment on table ledger.built is 'Tables that lie finished in the workspace of a region (0: Italy), so that an interrupted build goes on';

create table ledger.publication (
  publication_id int4 generated always as identity primary key,
  unit_code int2 not null,
  run_id int4 not null references ledger.run,
  state text not null check (state in ('current', 'previous', 'past')),
  reason text,
  published_at timestamptz not null default now()
);
comment on table ledger.publication is 'One row per swap of a region (0: Italy); exactly one is current per region, at most one previous';
create unique index publication_current_idx on ledger.publication (unit_code) where state = 'current';
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
