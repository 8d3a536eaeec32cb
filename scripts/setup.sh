#!/usr/bin/env bash
# Prepares a checkout: installs the npm packages and, on request, GDAL's binding. Does nothing
# if nothing is missing. Prints messages to stderr, and writes the output of npm and the
# compiler to a log file.
#
#   scripts/setup.sh           only the packages that the program needs; a quarter of the CPU time of `develop`
#   scripts/setup.sh develop   also the packages for tests, checks and documentation
#   scripts/setup.sh gdal      as `develop`, and GDAL's binding (gdal-async), which reads vector files faster than gdal3.js
#
# The script downloads a prebuilt binary of the binding, or compiles the binding against the system's GDAL.
# The install script of gdal-async would compile a bundled GDAL for half an hour. `npm ci --ignore-scripts`
# prevents this.
set -euo pipefail
case "${1:-}" in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Creates .mappale, because the program keeps its data in this folder only if the folder exists.
mkdir -p .mappale

readonly WORK=.mappale/setup
readonly LOG=$WORK/log.txt
readonly STAMP=node_modules/.mappale-setup
readonly ASKED=${1:-}
# Development packages that a checkout needs at run time: the TypeScript loader, the map library,
# and the pages of the API documentation.
readonly RUN_CHECKOUT='tsx maplibre-gl swagger-ui-dist'
readonly BINDING=node_modules/gdal-async/lib/binding

say() { printf 'setup: %s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 2
}

job=
leave() {
  [ -z "$job" ] || kill -- "-$job" 2>/dev/null || true
  [ "$(readlink "$WORK/lock" || true)" != "$$" ] || rm -f "$WORK/lock"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# run <seconds> <what> <command…>: runs the command and writes the output to the log. Prints the
# last line of the output every 15 s. Ends the command after the given number of seconds.
run() {
  local limit=$1 what=$2 status=0 began=$SECONDS next=15 passed
  shift 2
  printf '\n# %s\n# %s\n' "$what" "$*" >>"$LOG"
  set -m # A new process group, so that ending the command also ends its child processes.
  "$@" >>"$LOG" 2>&1 </dev/null &
  job=$!
  set +m
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    passed=$((SECONDS - began))
    if [ "$passed" -ge "$limit" ]; then
      kill -- "-$job" 2>/dev/null || true
      say "$what: stopped after $passed s without an end"
    elif [ "$passed" -ge "$next" ]; then
      say "  … $what, $passed s$(tail -n 1 "$LOG" | sed -n 's/^ *\([^#].\{0,80\}\).*/: \1/p')"
      next=$((next + 15))
    fi
  done
  wait "$job" 2>/dev/null || status=$?
  job=
  return "$status"
}

has() { command -v "$1" >/dev/null 2>&1; }

gdal_works() { node -e "require('gdal-async')" >/dev/null 2>&1; }

# --- Node
# ---------------------------------------------------------------------------------------------------------

has node || fail 'Node is not installed. Install Node 20.19 or newer (https://nodejs.org), then run the same command again.'
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  fail "Node $(node -v) is too old: expected 20.19 or newer. Install a newer Node (https://nodejs.org), then run the same command again."
has npm || fail 'npm is not installed. Install npm, which usually comes with Node, then run the same command again.'

# Digest of the files that determine the installed packages, and the ABI version of Node, which
# determines the binary of the binding.
wanted="$(cat package.json package-lock.json .npmrc | cksum) node $(node -p process.versions.modules)"

# Keeps development packages that are already installed.
packages=develop
if [ -z "$ASKED" ] && [ ! -d node_modules/vitest ]; then
  packages=run
  wanted="$wanted run"
fi

stamped=
[ ! -f "$STAMP" ] || stamped=$(cat "$STAMP")
[ -d node_modules/gdal3.js ] || stamped=
if [ "$stamped" = "$wanted gdal" ]; then exit 0; fi
if [ "$stamped" = "$wanted no-gdal" ] && [ "$ASKED" != gdal ]; then exit 0; fi

# Allows only one run at a time, because npm would remove the files of another run. The lock is a
# symbolic link, whose target is the process id of the run.
mkdir -p "$WORK"
waited=
until ln -s "$$" "$WORK/lock" 2>/dev/null; do
  holder=$(readlink "$WORK/lock" || true)
  if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
    rm -f "$WORK/lock"
  else
    [ -n "$waited" ] || say "waiting for another setup (process $holder) …"
    waited=yes
    sleep 1
  fi
done
if [ -n "$waited" ]; then
  rm -f "$WORK/lock"
  exec scripts/setup.sh "$@"
fi
: >"$LOG"

# --- npm packages
# -------------------------------------------------------------------------------------------------

install_develop() { npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund; }

# Installs the packages of the program and, of the development packages, only RUN_CHECKOUT, in the
# locked versions. Runs npm in a separate folder with a package.json and package-lock.json that list
# only these packages as direct dependencies, and moves node_modules from this folder.
install_run() {
  local folder=$WORK/run
  rm -rf "$folder"
  mkdir -p "$folder"
  cp .npmrc "$folder"
  node -e "
    const { readFileSync, writeFileSync } = require('node:fs');
    const [folder, ...names] = process.argv.slice(1);
    for (const file of ['package.json', 'package-lock.json']) {
      const content = JSON.parse(readFileSync(file, 'utf8'));
      const root = content.packages?.[''] ?? content;
      root.devDependencies = Object.fromEntries(names.map((name) => [name, root.devDependencies[name]]));
      writeFileSync(folder + '/' + file, JSON.stringify(content));
    }" "$folder" $RUN_CHECKOUT &&
    (cd "$folder" && npm ci --ignore-scripts --include=dev --include=optional --omit=peer --no-audit --no-fund) &&
    rm -rf node_modules &&
    mv "$folder/node_modules" node_modules
}

if [ "${stamped% *}" != "$wanted" ]; then
  # Saves the compiled binding, because npm removes node_modules. Compiling takes a while, and the
  # binding rarely changes.
  keep=$WORK/binding-$(node -p "require('./package-lock.json').packages['node_modules/gdal-async'].version")
  if [ -d "$BINDING" ] && gdal_works; then
    rm -rf "$keep"
    cp -R "$BINDING" "$keep"
  fi
  say 'installing the npm packages (npm ci) …'
  if ! run 900 'npm ci' "install_$packages"; then
    tail -n 15 "$LOG" >&2
    fail "the npm packages could not be installed (log: $LOG). Check that the npm registry answers: npm ping"
  fi
  if [ -d "$keep" ] && [ -d node_modules/gdal-async ] && ! gdal_works; then
    mkdir -p "$BINDING"
    cp -R "$keep/." "$BINDING"
  fi
fi

# --- GDAL's binding
# -----------------------------------------------------------------------------------------------

pre_gyp() { (cd node_modules/gdal-async && npx --no-install node-pre-gyp "$@"); }

prebuilt() {
  say "fetching the prebuilt binary of GDAL's binding …"
  run 300 "prebuilt GDAL" pre_gyp install && gdal_works
}

# Prints the folder of Node's headers, if headers of the same version are installed next to Node.
# Otherwise node-gyp downloads the headers from nodejs.org.
node_headers() {
  node -p "
    const { dirname, join } = require('node:path');
    const root = dirname(dirname(require('node:fs').realpathSync(process.execPath)));
    const header = require('node:fs').readFileSync(join(root, 'include/node/node_version.h'), 'utf8');
    const part = (name) => new RegExp('#define NODE_' + name + '_VERSION (\\\\d+)').exec(header)[1];
    if ([part('MAJOR'), part('MINOR'), part('PATCH')].join('.') !== process.versions.node) throw new Error('another version');
    root" 2>/dev/null
}

# Joins the 61 source files of the binding into four files. Otherwise the compiler would read the
# headers of Node and GDAL for each source file, which takes most of the time.
join_sources() {
  (cd node_modules/gdal-async && node -e "
    const { readFileSync, writeFileSync } = require('node:fs');
    const project = readFileSync('binding.gyp', 'utf8');
    const list = /(\"sources_node_gdal\": \[)([^\]]*)\]/.exec(project);
    const sources = [...list[2].matchAll(/\"src\/(.*?\.cpp)\"/g)].map((found) => found[1]).filter((name) => !name.startsWith('unit-'));
    if (sources.length === 0) process.exit();
    const units = [0, 1, 2, 3].map((unit) => 'src/unit-' + unit + '.cpp');
    units.forEach((unit, at) => writeFileSync(unit, sources.filter((_, index) => index % units.length === at).map((name) => '#include \"' + name + '\"\n').join('')));
    writeFileSync('binding.gyp', project.replace(list[0], list[1] + units.map((unit) => '\"' + unit + '\"').join(', ') + ']'));
  ")
}

system_gdal() {
  local missing=() headers
  has gdal-config || missing+=(libgdal-dev)
  has g++ || has c++ || missing+=(g++)
  has make || missing+=(make)
  has python3 || missing+=(python3)
  if [ "${#missing[@]}" -gt 0 ]; then
    if ! has apt-get; then
      say "to compile GDAL's binding, install ${missing[*]} (Fedora: gdal-devel gcc-c++; Homebrew: gdal)."
      return 1
    elif [ "$(id -u)" -ne 0 ]; then
      say "to compile GDAL's binding, run: sudo apt-get install -y ${missing[*]}"
      return 1
    fi
    say "installing ${missing[*]} (apt-get) …"
    export DEBIAN_FRONTEND=noninteractive
    run 300 'apt-get update' apt-get update || say 'apt-get update failed. Trying to install with the existing package lists.'
    run 900 'apt-get install' apt-get install -y --no-install-recommends "${missing[@]}" || return 1
  fi
  say "compiling GDAL's binding against GDAL $(gdal-config --version) of the system …"
  join_sources
  export npm_config_build_from_source=true npm_config_shared_gdal=true
  if headers=$(node_headers); then export npm_config_nodedir=$headers; fi
  run 1200 'compiling' pre_gyp install --build-from-source --shared_gdal=true -j max && gdal_works
}

gdal=gdal
if ! gdal_works && { [ "$ASKED" != gdal ] || { ! prebuilt && ! system_gdal; }; }; then
  gdal=no-gdal
fi

# Links the program of this checkout as the command of `npx mappale`.
mkdir -p node_modules/.bin
ln -sf ../../pipelines/mappale.mjs node_modules/.bin/mappale

printf '%s %s\n' "$wanted" "$gdal" >"$STAMP"
if [ "$ASKED" = gdal ] && [ "$gdal" = no-gdal ]; then
  fail "GDAL's binding could not be installed (log: $LOG). Vector files are read by gdal3.js, which is slower."
fi
say 'ready.'
