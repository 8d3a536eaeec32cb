#!/usr/bin/env bash
# Builds the image with Docker, and tests the size of the image, a load and the volume. Also tests a
# read-only server on a different port, including its health check and SIGTERM. With `compose`, also
# starts compose.yaml, with roles that are not superusers. Prints one line per result. Exits with 1 if
# a result is wrong.
#
#   scripts/image.sh [compose]
set -euo pipefail
case "${1:-}" in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly IMAGE=mappale:try VOLUME=mappale-try-$$ SERVER=mappale-try-server-$$ PORT=9000 LARGEST_MB=450
failed=0
# File with the output of the last command that can fail. After a wrong result, the script prints
# the end of this file.
LOG=$(mktemp)
readonly LOG

leave() {
  rm -f "$LOG"
  docker rm --force "$SERVER" >/dev/null 2>&1 || true
  docker volume rm "$VOLUME" >/dev/null 2>&1 || true
}
trap leave EXIT

# result <name> <expected> <found>
result() {
  if [ "$2" = "$3" ]; then
    printf '%s: %s\n' "$1" "$3"
  else
    printf '%s: expected %s, found %s\n' "$1" "$2" "$3"
    tail -n 15 "$LOG" | sed 's/^/  /'
    failed=1
  fi
}

run() { docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --volume "$VOLUME:/srv/mappale" "$IMAGE" "$@"; }

# wait_for <seconds> <expected> <command…>: repeats the command for at most <seconds> seconds, until
# the output is the expected text. Prints the last output.
wait_for() {
  local until=$((SECONDS + $1)) expected=$2 found=
  shift 2
  while [ "$SECONDS" -lt "$until" ]; do
    found=$("$@" 2>/dev/null || true)
    [ "$found" != "$expected" ] || break
    sleep 1
  done
  printf '%s' "$found"
}

# published <address>: prints `"published":true` if the /health of the server reports a published
# region
published() { curl --silent --fail "http://$1/api/v2/health" | grep --only-matching '"published"[ ]*:[ ]*true' | tr -d ' '; }

docker build --quiet --tag "$IMAGE" . >/dev/null
megabytes=$(($(docker image inspect --format '{{.Size}}' "$IMAGE") / 1000000))
printf 'size: %s MB\n' "$megabytes"
[ "$megabytes" -lt "$LARGEST_MB" ] || { printf 'size: expected less than %s MB\n' "$LARGEST_MB"; failed=1; }
result 'user' node "$(docker run --rm --entrypoint id "$IMAGE" -un)"

run load-region >"$LOG" 2>&1 && loaded=0 || loaded=$?
result 'exit code of the demo load' 0 "$loaded"

docker run --detach --name "$SERVER" --read-only --tmpfs /tmp --cap-drop ALL --volume "$VOLUME:/srv/mappale" \
  --health-interval 2s --publish "127.0.0.1::$PORT" "$IMAGE" serve --host 0.0.0.0 --port "$PORT" >/dev/null
result 'health check' healthy "$(wait_for 120 healthy docker inspect --format '{{.State.Health.Status}}' "$SERVER")"
result 'demo region in /health' '"published":true' "$(published "$(docker port "$SERVER" "$PORT/tcp" | head -n 1)")"
docker stop --time 25 "$SERVER" >/dev/null
result 'exit code after SIGTERM' 0 "$(docker inspect --format '{{.State.ExitCode}}' "$SERVER")"
result 'parcel of the volume' 1400000001 "$(run parcel 1400000001 --include basic 2>/dev/null | grep --only-matching --max-count 1 '1400000001' | head -n 1)"

if [ "${1:-}" = compose ]; then
  compose=(docker compose)
  docker compose version >/dev/null 2>&1 || compose=(docker-compose)
  compose+=(--project-name "mappale-try-$$")
  export POSTGRES_PASSWORD=try-owner MAPPALE_PASSWORD=try-writer READER_PASSWORD=try-reader
  trap '"${compose[@]}" down --volumes >/dev/null 2>&1 || true; leave' EXIT
  "${compose[@]}" up --build --detach >"$LOG" 2>&1 && up=0 || up=$?
  result 'exit code of compose up' 0 "$up"
  "${compose[@]}" run --rm load load-region >"$LOG" 2>&1 && loaded=0 || loaded=$?
  result 'exit code of the load in compose' 0 "$loaded"
  result 'demo region in /health of compose' '"published":true' "$(wait_for 120 '"published":true' published 127.0.0.1:8080)"
fi
exit "$failed"
