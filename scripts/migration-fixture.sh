#!/usr/bin/env bash
# Writes the fixture of test/migration: the program of a commit loads a small synthetic region into PostgreSQL
# and answers requests.
#
#   DATABASE_URL=postgres://… scripts/migration-fixture.sh COMMIT FOLDER
#
# DATABASE_URL is the URL of an empty PostgreSQL 15 database, which the script fills. The role must have the
# right to create extensions and roles. The script writes these files to FOLDER:
#
#   dump.sql.gz       the database as plain SQL, for PostgreSQL from 15 on and the embedded database
#   answers.json.gz   path → response of /api/v2: all parcels, some addresses and points, the administrative lists
#   data.tar.gz       the files of the last load, without files that were removed before
#   about.json        commit, version, PostgreSQL and PostGIS, and a token with its scopes
#
# Needs git, node, tar, unzip, and psql and pg_dump of the server's version.
set -euo pipefail
case "${1:-}" in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

commit=$(git rev-parse --verify "$1^{commit}")
folder=$(mkdir -p "$2" && cd "$2" && pwd)
: "${DATABASE_URL:?the URL of an empty database}"
export DATABASE_URL TZ=UTC LC_ALL=C.UTF-8

scratch=$(mktemp -d /tmp/mappale-fixture-XXXXXX)
server=
leave() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap leave EXIT

say() { printf 'migration fixture: %s\n' "$*" >&2; }
ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --command "$1" "$DATABASE_URL"; }

[ "$(ask "select count(*) from pg_namespace where nspname in ('ledger', 'core')")" = 0 ] || { say 'the database is not empty'; exit 2; }

mkdir "$scratch/program"
git archive "$commit" | tar -x -C "$scratch/program"
if cmp -s package-lock.json "$scratch/program/package-lock.json"; then
  ln -s "$PWD/node_modules" "$scratch/program/node_modules"
else
  (cd "$scratch/program" && npm ci --silent)
fi
mappale() { (cd "$scratch/program" && node pipelines/mappale.mjs "$@"); }

# invent <folder> <parcels>: writes a synthetic region. Keeps only the first 24 columns of each EGMS
# tile, because the reader uses no other columns. The other columns are time series and take a
# megabyte per tile.
invent() {
  mappale synth --out "$1" --parcels "$2" --seed 3 --comuni 4 >&2
  local tile csv
  for tile in "$1"/EGMS_*_U_2020_*.zip; do
    csv=$(basename "$tile" .zip).csv
    unzip -p "$tile" "$csv" | cut -d , -f 1-24 >"$1/$csv"
    rm "$tile"
  done
}

say 'first load'
invent "$scratch/data" 300
mappale load-region molise --data "$scratch/data" >&2
mappale token create --name 'the office' --scopes geocoding:read,admin_data:read,parcels:read >/dev/null
# Uses a readable token instead of a random token, so that no scanner reports a secret.
token=mpl_made-for-tests-made-for-tests-made-for-tests
token=${token:0:47}
ask "update access.token set sha256 = sha256('$token') where token_id = 1"
mappale token create --name 'the map' --scopes parcels:read --expires 2099-12-31 >"$scratch/other"
mappale token create --name 'lost' --scopes parcels:read >"$scratch/lost"
mappale token revoke 3 >&2
ask "select outcome from api.admit('$(printf '%s' "$(cat "$scratch/other")" | sha256sum | cut -d ' ' -f 1)', 'parcels:read', '192.0.2.1')" >&2
ask "select outcome from api.admit('$(printf 'wrong' | sha256sum | cut -d ' ' -f 1)', 'parcels:read', '192.0.2.2')" >&2

say 'second load: a new map with fewer parcels, and the addresses of a month later'
invent "$scratch/later" 296
mv "$scratch/later/MOLISE.zip" "$scratch/data/MOLISE.zip"
for name in INDIR STRAD; do
  case $name in INDIR) zip=indirizzarioMolise20260602.zip ;; STRAD) zip=stradarioMolise20260602.zip ;; esac
  # Removes the last access from the address file, to test deleted rows.
  unzip -p "$scratch/data/$zip" "${name}_MOLI_20260602.csv" | if [ "$name" = INDIR ]; then sed '$d'; else cat; fi >"$scratch/data/${name}_MOLI_20260702.csv"
  rm "$scratch/data/$zip"
done
mappale refresh molise --data "$scratch/data" >&2

say 'answers of the API'
mappale serve --port 0 >"$scratch/address" 2>"$scratch/serve.log" &
server=$!
for _ in $(seq 100); do [ -s "$scratch/address" ] && break; sleep 0.2; done
base=$(head -n 1 "$scratch/address")
{
  ask 'select format('"'/parcels/%s'"', fid) from core.parcel order by fid'
  ask "select format('/geocode/search?q=%s&city=Z001&limit=5', name) from core.street where belfiore = 'Z001' order by name collate \"C\" limit 12"
  ask "select format('/geocode/reverse?lat=%s&lng=%s&limit=3', st_y(geom)::numeric(9, 7), st_x(geom)::numeric(9, 7)) from core.access_point where geom is not null order by address_id limit 12"
  ask "select format('/parcels/locate?lat=%s&lng=%s', st_y(point)::numeric(9, 7), st_x(point)::numeric(9, 7)) from core.parcel order by fid limit 12"
  printf '%s\n' /admin/regions /admin/provinces /admin/municipalities '/parcels/locate?bbox=14.0,41.99,14.01,42.0&limit=200'
} >"$scratch/paths"
node -e '
  const { readFileSync } = require("node:fs");
  const [list, base, key] = process.argv.slice(1);
  void (async () => {
    const lines = [];
    for (const path of readFileSync(list, "utf8").trimEnd().split("\n")) {
      const response = await fetch(base + encodeURI(path), { headers: { "x-api-key": key } });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      lines.push(`${JSON.stringify(encodeURI(path))}: ${JSON.stringify(await response.json())}`);
    }
    process.stdout.write(`{\n${lines.join(",\n")}\n}\n`);
  })();
' "$scratch/paths" "$base" "$token" | gzip -9n >"$folder/answers.json.gz"
kill "$server"
wait "$server" || true
server=

say 'dump of the database'
# Removes psql commands, because other programs also read the dump.
pg_dump --no-owner --inserts --rows-per-insert 500 "$DATABASE_URL" | sed '/^\\/d' | gzip -9n >"$folder/dump.sql.gz"
tar -C "$scratch" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c data | gzip -9n >"$folder/data.tar.gz"
node -e '
  const [commit, version, postgres, postgis, token] = process.argv.slice(1);
  process.stdout.write(`${JSON.stringify({ commit, version, postgres, postgis, token, scopes: ["geocoding:read", "admin_data:read", "parcels:read"] }, null, 2)}\n`);
' "$commit" "$(node -p "require('$scratch/program/package.json').version")" "$(ask 'show server_version')" "$(ask 'select postgis_lib_version()')" "$token" >"$folder/about.json"
say "$(du -sh "$folder" | cut -f 1) in $folder"
