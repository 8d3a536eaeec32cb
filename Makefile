# Commands of mappale. `make help` lists them.
#   REGION=molise             region to load, plan or refresh: its name, or its ISTAT code (1–20)
#   DATA="/data/a /data/b"    folders with the publishers' files (paths without spaces)
#   DATABASE_URL=postgres://… database with PostGIS; default: an embedded database in .mappale/
#   FILES="a.zip b.csv"       files to validate
#   ARGS="--json"             more options for the command: `npx mappale COMMAND --help` lists them

mappale := node pipelines/mappale.mjs
vitest := npx --no-install vitest run
options = $(REGION) $(foreach folder,$(DATA),--data $(folder)) $(ARGS)

.PHONY: help setup develop setup-gdal load-region plan refresh status validate serve unit test test-all test-faults test-long bench docs check

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

setup: ## Install missing packages that the program needs
	@scripts/setup.sh

develop: ## Install missing packages, including those for tests, checks and documentation
	@scripts/setup.sh develop

setup-gdal: ## Install or compile GDAL's binding, which reads vector files faster
	@scripts/setup.sh gdal

load-region: setup ## Load the files of one REGION from DATA into the database, or the synthetic demo region if neither is set
	@$(mappale) load-region $(options)

plan: setup ## Show what a refresh would do, and why
	@$(mappale) plan $(options)

refresh: setup ## Rebuild what is stale and publish it
	@$(mappale) refresh $(options)

status: setup ## Show published data, its age and the last failures
	@$(mappale) status $(ARGS)

validate: setup ## Check that FILES match the expected schema; needs no database
	@$(mappale) validate $(FILES) $(ARGS)

serve: setup ## Serve the API and the map on localhost
	@$(mappale) serve $(ARGS)

unit: develop ## Run the tests that need no database, in seconds
	@$(vitest) --project unit $(ARGS)

test: develop ## Run the tests on each database engine of this machine, without the long random tests
	@$(vitest) --project '!random*' $(ARGS)

test-all: develop ## Run every test, as in continuous integration
	@$(vitest) $(ARGS)

test-faults: develop ## Run the tests that kill processes, truncate files and fill disks
	@$(vitest) --project '*faults' $(ARGS)

test-long: develop ## Run every test on PostgreSQL and on PGlite, with many more random cases (hours); ARGS=test/pipelines/arrival selects tests
	@MAPPALE_TEST_ENGINES=postgres,pglite MAPPALE_TEST_SEQUENCES=300 MAPPALE_TEST_KILLS=300 MAPPALE_TEST_MUTATIONS=20000 MAPPALE_TEST_TRUTH=20000 $(vitest) $(ARGS)

bench: develop ## Measure the time of each step on this machine
	@npm run --silent bench -- $(ARGS)

docs: develop ## Build the documentation site in .mappale/site
	@npm run --silent docs

check: develop ## Check types, code style and regular expressions
	@npm run --silent typecheck && npm run --silent lint && npm run --silent expressions
