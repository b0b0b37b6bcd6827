# The verbs a developer types; .ci/run types the same. `make demo` and `make test` each do the whole set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
SPARK_READY := $(VENV)/spark-ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-jobs test-dagster test-spark test-spark-large test-faults lint types imports check fmt docs \
  spark-sql wheel lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-16s %s\n", $$1, $$2}' Makefile

# The lock is complete and installed with its hashes checked: by uv where there is one, else by pip (without resolving:
# pip refuses a locked package that another one names with an extra). Both compile what they install: without that, each
# command would compile it again wherever Python may not write beside it. The project itself is linked in.
$(READY): requirements.lock pyproject.toml
	@rm -f $@
	@if command -v uv >/dev/null 2>&1; then \
	  { test -x $(BIN)/python || uv venv --quiet --python "$$(command -v $(PYTHON))" $(VENV); } && \
	  uv pip sync --quiet --compile-bytecode --require-hashes --python $(BIN)/python requirements.lock && \
	  uv pip install --quiet --no-deps --no-build-isolation --python $(BIN)/python --editable .; \
	else \
	  { test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV); } && \
	  $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement requirements.lock && \
	  $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
	fi
	@touch $@

# All of Spark, some 490 MB, for those who test or measure with it. pip builds it from its source, which has all hashes.
$(SPARK_READY): $(READY) requirements-spark.lock
	@rm -f $@
	@if command -v uv >/dev/null 2>&1; then \
	  uv pip install --quiet --no-deps --compile-bytecode --require-hashes --python $(BIN)/python \
	    --requirement requirements-spark.lock; \
	else \
	  $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
	    --requirement requirements-spark.lock; \
	fi
	@touch $@

setup: $(READY) ## virtual environment from the lock

demo: setup ## the whole job on bundled logs: the valley table and where the report is
	@$(BIN)/valleywatch demo

# Each of the two begins with its half, in one piece, so that what a module's tests share is made once; the one that is
# done first takes over some of the other's.
test: setup ## the tests
	@$(BIN)/python -P -m pytest -n 2 --dist worksteal

test-jobs: setup ## whole jobs run, killed, repeated and grown, many times over; some minutes
	@$(BIN)/python -P -m pytest -n 2 --dist worksteal -m 'jobs and not slow'

test-dagster: setup ## Dagster's real daemon, web server and command line, on loopback; some minutes
	@$(BIN)/python -P -m pytest -m dagster

test-spark: $(SPARK_READY) ## both engines on the same requests: Spark in several processes on loopback, some of them killed
	@$(BIN)/python -P -m pytest -m "spark and not slow"

test-spark-large: $(SPARK_READY) ## the same on a million requests, with every kill, and Spark Connect
	@VALLEYWATCH_SPARK_ROWS=1000000 $(BIN)/python -P -m pytest -m spark --timeout 1800

test-faults: setup ## the long versions of tests: rounds of kills, torn logs, flipped bits, hundreds of services
	@$(BIN)/python -P -m pytest -n 2 --dist worksteal -m "slow and not spark"

lint: setup ## style, and that sql/ means the same on both engines
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -P -m tools.spark_sql lint

types: setup ## types
	@$(BIN)/mypy

imports: setup ## who may import what
	@$(BIN)/lint-imports

check: lint types imports ## style, types and import rules

fmt: setup ## rewrite the code in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: setup ## make the list in docs/formats.md anew
	@sed -i '/^## The formats$$/q' docs/formats.md
	@{ echo; $(BIN)/valleywatch formats --markdown; } >> docs/formats.md

spark-sql: setup ## make sql/spark/ and the tables in docs/spark-sql.md anew
	@$(BIN)/python -P -m tools.spark_sql write

wheel: setup ## build the wheel
	@$(BIN)/python -m hatchling build -t wheel

# Needs uv. The file it resolves into names package hosts and stays out of the repository; the export names none.
lock: ## resolve the dependencies again
	@uv lock --upgrade --quiet
	@uv export --quiet --all-extras --no-extra spark --no-emit-project --no-emit-index-url --no-header --no-annotate \
	  --output-file requirements.lock >/dev/null
	@uv export --quiet --only-group spark --no-emit-project --no-emit-index-url --no-header --no-annotate \
	  --output-file requirements-spark.lock >/dev/null

clean: ## remove what the verbs above made
	@rm -rf $(VENV) valleywatch-demo dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
