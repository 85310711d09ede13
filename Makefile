# Each target sets up what it needs. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test check integration e2e bench migrate lock clean

help: ## list the targets
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned packages into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## play a support bot's outage, with the alert that follows
	@$(BIN)/monitor demo

test: check integration e2e ## everything: check, integration, e2e

check: $(READY) ## ruff, import-linter, mypy, unit and contract tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/unit tests/contract

integration: $(READY) ## tests against a real PostgreSQL and the real model
	$(BIN)/python -m pytest tests/integration tests/golden

e2e: $(READY) ## the whole program, as a user runs it
	$(BIN)/python -m pytest tests/e2e

bench: $(READY) ## every benchmark, in short form
	@set -e; for script in benchmarks/replay.py benchmarks/verdicts.py; do $(BIN)/python $$script --short; done

migrate: $(READY) ## bring the configured database to this release
	@$(BIN)/monitor migrate

lock: $(READY) ## resolve the dependencies anew into requirements.lock; needs uv
	uv pip compile pyproject.toml --group dev --group weights --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet --output-file requirements.lock

clean: ## remove the virtual environment and every cache in this folder
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
