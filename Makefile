# Each target sets up what it needs. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One thread of numpy in each test process, as in the program: theirs would wait for each other on cores that others need.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
STATIC := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/mypy
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
READY_DOCS := $(VENV)/.ready-docs
VENV_LIVE := .venv-live
READY_LIVE := $(VENV_LIVE)/.ready
UV ?= $(or $(wildcard $(BIN)/uv),uv)
# Python compiles what is imported, when it is: most of what is installed never is.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
PIP_LIVE := $(VENV_LIVE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
IMAGE_EXTRAS := --extra grpc --extra oidc --extra otel --extra timestamps --extra tokenizers
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet

# Every process would compile the program anew: a tenth of the start of each of the hundreds that the tests run.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check static unit integration e2e live bench docs site migrate lock clean

help: ## list the targets
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# What the program needs to run. A virtual environment that was left half made is made anew.
$(READY): requirements.lock pyproject.toml
	@$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "monitor needs Python 3.11 or later; $(PYTHON) is: $$($(PYTHON) --version 2>&1 || true)" >&2; \
	    echo "If another one is installed, name it: make PYTHON=python3.12 ..." >&2; exit 1; }; \
	  $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
	    echo "$(PYTHON) could not make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
	    exit 1; }; }
	@echo "installing the pinned packages into $(VENV); this takes about a minute ..."
	@$(PIP_INSTALL) --require-hashes -r requirements.lock
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

# What checks and tests need in addition.
$(READY_DEV): requirements-dev.lock $(READY)
	@echo "installing the tools for checks and tests into $(VENV) ..."
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-dev.lock
	@touch $@

# What builds the documentation, without those tools.
$(READY_DOCS): requirements-docs.lock $(READY)
	@echo "installing what builds the documentation into $(VENV) ..."
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-docs.lock
	@touch $@

demo: $(READY) ## play a support bot's outage, with the alert that follows
	@$(BIN)/monitor demo

# Most tests wait for others, so four processes keep two cores busy. The checks of the code run beside them, and what
# they have to say comes at the end.
test: $(READY_DEV) ## everything: the checks of the code, and all tests in one run
	@{ $(STATIC); } >$(VENV)/.static.log 2>&1 & static=$$!; \
	$(PYTEST) -n 4 tests --ignore tests/live; tests=$$?; \
	wait $$static; static=$$?; cat $(VENV)/.static.log; exit $$((tests ? tests : static))

check: static unit ## ruff, import-linter, mypy, unit and contract tests

static: $(READY_DEV) ## ruff, import-linter, mypy
	$(STATIC)

unit: $(READY_DEV) ## unit and contract tests
	$(PYTEST) -n 2 tests/unit tests/contract

integration: $(READY_DEV) ## tests against a real PostgreSQL, a real Kafka and the real model
	$(PYTEST) -n 4 tests/integration tests/golden

e2e: $(READY_DEV) ## the whole program, as a user runs it
	$(PYTEST) -n 4 tests/e2e

# Each prints a table, and with --json PATH writes its figures; benchmarks/README.md says what each measures.
BENCHMARKS := replay/run scoring/run embedding/run embedding/saturation embedding/word_pieces verdicts/run verdicts/order verdicts/refusals verdicts/facts \
	verdicts/robustness verdicts/label_queue study/squad study/cloud_faq consume/run collect/run collect/decode collect/kill faults/run faults/takeover \
	judge/run alerts/rules alerts/run alerts/ranks web/run audit/run audit/attacks audit/customer rates/run rates/cost reference/run \
	people/incidents people/quality people/run install/run start/run client/run chunks/run chunks/paired chunks/follow_ups probe/run \
	tracing/run scale/run

# The packages that the guides install, and a Collector where Go can build one: without the modules that only the tests
# of its parts need, if those cannot be had.
$(READY_LIVE): requirements-live.lock tests/live/collector.yaml
	@$(PYTHON) -m venv --clear $(VENV_LIVE)
	@echo "installing the packages of the guides into $(VENV_LIVE) ..."
	@$(PIP_LIVE) --require-hashes -r requirements-live.lock
	@command -v go >/dev/null || { echo "no Go here: the tests of the Collector are skipped" >&2; touch $@; exit 0; }; \
	  echo "building an OpenTelemetry Collector ..."; cp tests/live/collector.yaml $(VENV_LIVE); cd $(VENV_LIVE); \
	  GOBIN=$$PWD/bin go install go.opentelemetry.io/collector/cmd/builder@v0.155.0 && \
	  { bin/builder --config collector.yaml || { cd otelcol && go mod tidy -e; go build -o otelcol . && cd ..; }; } && \
	  touch .ready

live: $(READY_DEV) $(READY_LIVE) ## the guides of docs/join with the real packages, and a real Collector; takes minutes
	$(PYTEST) -n 2 tests/live

bench: $(READY_DEV) ## every benchmark, in short form
	@set -e; for script in $(BENCHMARKS); do \
	  echo "benchmarks/$$script.py"; $(BIN)/python benchmarks/$$script.py --short; done

# The theme's authors support it until May 2027 and say so at every build; tools/mkdocs.yml says what comes after it.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

docs: $(READY_DOCS) ## the documentation as a site, in build/site; first writes docs/reference anew
	$(BIN)/python tools/reference_pages.py
	$(MKDOCS) build --quiet -f tools/mkdocs.yml

site: $(READY_DOCS) ## the documentation on http://127.0.0.1:8000, built anew as you write
	$(MKDOCS) serve -f tools/mkdocs.yml

migrate: $(READY) ## bring the configured database to this release
	@$(BIN)/monitor migrate

lock: ## resolve the dependencies anew into the requirements files; needs uv
	@command -v $(UV) >/dev/null || { echo "make lock needs uv, on the PATH or in $(BIN)" >&2; exit 1; }
	$(COMPILE) pyproject.toml --group build --output-file requirements.lock
	$(COMPILE) pyproject.toml --group build $(IMAGE_EXTRAS) --constraints requirements.lock --output-file requirements-image.lock
	$(COMPILE) --group docs --constraints requirements.lock --output-file requirements-docs.lock
	$(COMPILE) --group dev --group weights --constraints requirements.lock --constraints requirements-docs.lock \
	  --output-file requirements-dev.lock
	$(COMPILE) --group live --output-file requirements-live.lock

clean: ## remove the virtual environment and every cache in this folder
	rm -rf $(VENV) $(VENV_LIVE) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
