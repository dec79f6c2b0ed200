# Everything this repository can do; `make` lists it. Works with GNU make 3.81 (macOS) and newer.

.DEFAULT_GOAL := help
.PHONY: help run test check format lock schema bundle bench up down clean node-packages

# The first Python that is new enough; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
PORT ?= 8080
BIN := .venv/bin
# LANES='-n 2': two folders of tests at a time (tests/lanes.py)
LANES ?=
QUICK := not browser and not compose and not stack and not node
LOCKS := auth relay apphost run dev

help: ## this list
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##@ Use it
run: .venv-run/stamp ## strad and a demo on this machine, without Docker (PORT, STRAD_CONFIG, STRAD_DATA, VERBOSE=1)
	@PORT=$(PORT) exec .venv-run/bin/python -m demo.run

up: ## the same in containers
	@STRAD_PORT=$(PORT) STRAD_PROVIDER_PORT=$$(($(PORT) + 1)) \
	  docker compose --profile demo up --build --detach --wait
	@echo "strad is at http://127.0.0.1:$(PORT)"

down: ## end the containers; what they stored stays
	@docker compose --profile demo down --remove-orphans

##@ Work on it
test: .venv/stamp node-packages ## every test that this machine can run (ARGS='-k name')
	@$(BIN)/python -m pytest $(LANES) $(ARGS)

check: .venv/stamp node-packages ## lint, types and the quick tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@if test -e node_modules/stamp; then \
	  node_modules/.bin/tsc --project tsconfig.json && node_modules/.bin/eslint .; fi
	@$(BIN)/python -m pytest -q $(LANES) -m '$(QUICK)' $(ARGS)

format: .venv/stamp ## put the Python code into shape
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: .venv/stamp ## measure; docs/performance.md says what
	@$(BIN)/python -m tests.bench $(ARGS)

##@ Files that are made
bundle: node_modules/stamp ## the demo's pages, from their sources
	@npm run --silent bundle

schema: .venv/stamp ## the schema of strad.yaml, for editors
	@$(BIN)/python -m cli schema > docs/strad.schema.json

lock: .venv/stamp ## the locks in requirements/, from pyproject.toml (ARGS=--upgrade)
	@for extra in $(LOCKS); do \
	  PIP_CONFIG_FILE=/dev/null $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --custom-compile-command 'make lock' $(ARGS) \
	    --extra $$extra pyproject.toml -o requirements/$$extra.lock || exit 1; \
	done
	@for peer in fastmcp/3.11 contextforge/3.12; do \
	  PIP_CONFIG_FILE=/dev/null $(BIN)/uv pip compile --quiet --universal \
	    --python-version $${peer#*/} --generate-hashes --no-emit-index-url \
	    --custom-compile-command 'make lock' $(ARGS) \
	    --group pyproject.toml:peer-$${peer%/*} -o requirements/peer-$${peer%/*}.lock || exit 1; \
	done

clean: ## remove what was made, but no data
	@rm -rf .venv .venv-run node_modules .cache .mypy_cache .ruff_cache .pytest_cache \
	  .import_linter_cache .hypothesis .coverage artifacts
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- environments: made anew when their lock changes ----

.venv/stamp: requirements/dev.lock
.venv-run/stamp: requirements/run.lock

.venv/stamp .venv-run/stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "strad needs Python 3.11 or newer, and found: $$($(PYTHON) --version 2>&1)."; \
	  echo "Install one (macOS: brew install python; Debian, Ubuntu: apt install python3 python3-venv),"; \
	  echo "or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3"; exit 1; }
	@echo "installing $< into $(@D), once"
	@$(PYTHON) -m venv --clear $(@D) || { \
	  echo "python -m venv failed. Debian and Ubuntu keep it apart: apt install python3-venv"; exit 1; }
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The checks and tests of the browser code need Node; without it the others still run.
node-packages:
	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; \
	then $(MAKE) --silent --no-print-directory node_modules/stamp; \
	else echo "NO NODE 20 OR NEWER: the browser code is not checked, and tests of it are skipped. Get it from nodejs.org."; fi

node_modules/stamp: package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || { \
	  echo "This needs Node 20 or newer, and found: $$(node --version 2>&1)."; \
	  echo "Get it from nodejs.org, brew install node, or your system's packages."; exit 1; }
	@echo "installing package-lock.json into $(@D), once"
	@npm ci --no-progress --loglevel=error
	@touch $@
