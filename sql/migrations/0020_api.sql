-- purpose: who may ask the server, how often, and the role that the server works as
-- reads: none
-- writes: access.token, access.rate_window, access.failed_attempt
-- grain: as each table says
-- crs: none

create schema access;
comment on schema access is 'Tokens of the read interface and the counters that limit their use';

create table access.token (
  token_id int4 generated always as identity primary key,
  name text,
  sha256 bytea not null check (octet_length(sha256) = 32),
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['geocoding:read', 'admin_data:read', 'parcels:read']),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
comment on table access.token is 'Tokens that were given out; the token itself is kept nowhere';
comment on column access.token.token_id is 'Number by which people name a token';
comment on column access.token.name is 'What or whom it is for; null: not said';
comment on column access.token.sha256 is 'SHA-256 of the token, which has 256 random bits: no salt is needed';
comment on column access.token.scopes is 'What it opens: geocoding:read, admin_data:read, parcels:read';
comment on column access.token.created_at is 'When it was given out';
comment on column access.token.expires_at is 'From when on it is refused; null: never';
comment on column access.token.revoked_at is 'When it was revoked; null: it was not';
-- serves: api.admit, by the hash of the key of a request
create unique index token_sha256_idx on access.token (sha256);

-- Half-empty pages and no index on what changes: counting a request rewrites its row in place.
create table access.rate_window (
  token_id int4 primary key references access.token on delete cascade,
  started_at timestamptz not null,
  used int4 not null
) with (fillfactor = 50);
comment on table access.rate_window is 'The fixed hour of each token that was used, shared by all servers';
comment on column access.rate_window.token_id is 'Token';
comment on column access.rate_window.started_at is 'First request of the hour';
comment on column access.rate_window.used is 'Requests counted in the hour, refused ones included up to one';

create table access.failed_attempt (
  address text primary key,
  started_at timestamptz not null,
  attempts int4 not null
);
comment on table access.failed_attempt is 'Bad keys per address in a quarter of an hour';
comment on column access.failed_attempt.address is 'IPv4 address, or the /64 network of an IPv6 address';
comment on column access.failed_attempt.started_at is 'First bad key of the quarter';
comment on column access.failed_attempt.attempts is 'Bad keys counted in the quarter';
-- serves: api.note_failure, which removes what is over
create index failed_attempt_started_at_idx on access.failed_attempt (started_at);

-- The server logs in as a member of this role, which can execute the interface in the schema api (sql/api/usage.sql) and nothing else.
-- A role belongs to the whole server: another database may have made it, may be making it, or we may not be allowed to.
do $$
begin
  create role mappale_api nologin;
exception
  when duplicate_object or unique_violation or insufficient_privilege then null;
end
$$;
