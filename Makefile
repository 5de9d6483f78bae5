VENV := .venv
BIN := $(VENV)/bin
DOCS_COMMAND = $(BIN)/python -m tests.documents

PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal
TYPES = $(BIN)/mypy && $(BIN)/lint-imports --no-logo

.PHONY: help run test test-all test-slow test-slowest check lint types fix bench bench-detection bench-search soak lock docs wheel clean

help: ## list these targets (ARGS="…" is passed on where it makes sense)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runtime ## start the guard on this machine
	@$(BIN)/mcpguard serve --demo $(ARGS)

# Some hundred programs are started by tests, and each would compile them all.
test test-all test-slow test-slowest: export PYTHONDONTWRITEBYTECODE =

ifeq ($(strip $(ARGS)),)
test: lint ## run every check and the fast tests (ARGS="PATH…": only these, fast or not, and no checks)
	@$(BIN)/python -m tests.browser.locate
	@($(TYPES)) & types=$$!; \
	echo '$(PYTEST) --tier fast'; $(PYTEST) --tier fast; tested=$$?; \
	wait $$types || { echo 'types or imports are wrong: see above, or make types'; exit 1; }; \
	exit $$tested

test-all: test test-slow ## run every check and every test
else
test: $(VENV)/.dev
	$(PYTEST) --tier fast $(ARGS)

test-all: $(VENV)/.dev
	$(PYTEST) $(ARGS)
endif

test-slow: $(VENV)/.dev ## run what test-all does besides test
	@$(BIN)/python -m tests.browser.locate
	@$(BIN)/python -m tests.conformance.tools
	@$(BIN)/python -m tests.conformance.own_uv
	@$(BIN)/python -m tests.clients.installed
	$(PYTEST) --tier slow $(ARGS)

test-slowest: $(VENV)/.dev ## run the fast tests and print the 30 slowest (ARGS="--tier slow": of the others)
	$(PYTEST) --tier fast --durations 30 --durations-min 0 $(ARGS)

check: lint types ## lint, formatting, types, import layers

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(TYPES)

fix: $(VENV)/.dev ## repair what ruff can repair
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.dev ## measure (ARGS=quick: in a minute, and whether a call became dearer)
	$(BIN)/python -m tests.benchmarks $(ARGS)

bench-detection: $(VENV)/.dev ## measure what is found in labelled texts (ARGS="PLACE… --left-out": files or folders)
	$(BIN)/python -m tests.benchmarks.detection $(ARGS)

bench-search: $(VENV)/.dev ## measure how tools are found, and the tokens that takes (ARGS="DIR…": folders with tools.jsonl and queries.jsonl)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.search --table $(ARGS)

soak: $(VENV)/.dev ## load a guard and kill its servers, for long (ARGS="--minutes 10 --seed 7")
	$(BIN)/python -m tests.soak $(ARGS)

lock: ## rewrite requirements*.txt from pyproject.toml (ARGS=--upgrade for newer versions)
	.ci/lock $(ARGS)

docs: $(VENV)/.dev ## rewrite the documents that are generated from code, and build the site (build/site)
	$(DOCS_COMMAND)
	$(BIN)/properdocs build
	@echo "build/site/index.html"

wheel: $(VENV)/.runtime ## build dist/*.whl
	$(BIN)/python -m hatchling build --target wheel

clean: ## remove everything that make made
	rm -rf $(VENV) .tools dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps that .ci/bootstrap leaves; dev holds everything that runtime does.
INSTALLED_FROM := requirements-build.txt pyproject.toml .ci/bootstrap

$(VENV)/.runtime: requirements.txt $(INSTALLED_FROM)
	@.ci/bootstrap runtime

$(VENV)/.dev: requirements-dev.txt $(INSTALLED_FROM)
	@.ci/bootstrap dev
