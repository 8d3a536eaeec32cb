# mappale: everything starts here. `make help` says what can be typed.
#
#   REGION=molise             which region: name, or ISTAT code 1–20
#   DATA="/data/a /data/b"    folders with the publishers' files (paths without spaces)
#   DATABASE_URL=postgres://… PostgreSQL with PostGIS; without it an embedded database in .mappale/
#   FILES="a.zip b.csv"       files to validate
#   ARGS="--json"             more options for the command: `npx mappale COMMAND --help` lists them

mappale := node pipelines/mappale.mjs
vitest := npx --no-install vitest run
options = $(REGION) $(foreach folder,$(DATA),--data $(folder)) $(ARGS)

.PHONY: help setup setup-gdal load-region plan refresh status validate serve unit test test-all test-faults test-long bench docs check

help: ## What can be typed
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

setup: ## Install what is missing; nothing when nothing is
	@scripts/setup.sh

setup-gdal: ## Install or compile GDAL's binding, which reads vector files faster
	@scripts/setup.sh gdal

load-region: setup ## Files of one REGION from DATA into the database; without both, the synthetic demo region
	@$(mappale) load-region $(options)

plan: setup ## What a refresh would do, and why; changes nothing
	@$(mappale) plan $(options)

refresh: setup ## Rebuild only what is stale, publish it, say so in the exit code
	@$(mappale) refresh $(options)

status: setup ## What is published, how old it is, what failed last
	@$(mappale) status $(ARGS)

validate: setup ## Do FILES still have the shape that is read? Needs no database
	@$(mappale) validate $(FILES) $(ARGS)

serve: setup ## The HTTP interface on localhost
	@$(mappale) serve $(ARGS)

unit: setup ## Tests that need no database, in seconds
	@$(vitest) --project unit $(ARGS)

test: setup ## Tests on the databases that this machine offers, without the long random ones
	@$(vitest) --project '!random*' $(ARGS)

test-all: setup ## Every test, with the long random ones, as in continuous integration
	@$(vitest) $(ARGS)

test-faults: setup ## Only the tests that kill, cut and fill up
	@$(vitest) --project '*faults' $(ARGS)

test-long: setup ## Every test on every database, and many more random ones: hours; ARGS=test/pipelines/arrival chooses
	@MAPPALE_TEST_ENGINES=postgres,pglite MAPPALE_TEST_SEQUENCES=300 MAPPALE_TEST_KILLS=300 MAPPALE_TEST_MUTATIONS=20000 MAPPALE_TEST_TRUTH=20000 $(vitest) $(ARGS)

bench: setup ## Measure each step on this machine
	@npm run --silent bench -- $(ARGS)

docs: setup ## Build the site of the documentation in .mappale/site
	@npm run --silent docs

check: setup ## Check the types, the style and the regular expressions of the code
	@npm run --silent typecheck && npm run --silent lint && npm run --silent expressions
