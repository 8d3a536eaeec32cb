#!/bin/sh
# Initialises the database when the volume of the database container is empty. Creates the
# extensions, the owner of the tables and the role of the API server.
set -eu
psql --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" \
  --set owner_password="$MAPPALE_PASSWORD" --set reader_password="$READER_PASSWORD" --set database="$POSTGRES_DB" <<'SQL'
create extension if not exists postgis;
create extension if not exists pg_trgm;
create extension if not exists unaccent;
create extension if not exists fuzzystrmatch;
create role mappale login password :'owner_password';
create role mappale_api nologin;
create role reader login password :'reader_password' connection limit 50 in role mappale_api;
alter database :"database" owner to mappale;
alter schema public owner to mappale;
-- The server's role needs no large objects. If PUBLIC has these rights, `mappale doctor` prints this statement.
revoke execute on function
  lo_close(int), lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea), lo_get(oid), lo_get(oid, bigint, int), lo_lseek(int, int, int),
  lo_lseek64(int, bigint, int), lo_open(oid, int), lo_put(oid, bigint, bytea), lo_tell(int), lo_tell64(int), lo_truncate(int, int),
  lo_truncate64(int, bigint), lo_unlink(oid), loread(int, int), lowrite(int, bytea)
from public;
SQL
