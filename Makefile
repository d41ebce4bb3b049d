# One task runner. `make demo` and `make test` are all a new user needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := pyproject.toml constraints.txt

# Workers times threads of the numerical libraries must not exceed the cores, hence one thread each.
.PHONY: demo test check format bench sim reproduce docs clean

demo: $(VENV)/.core
	$(BIN)/debinet demo --out demo

test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict --quiet --site-dir site

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py --out results

sim: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/simulation -m sim -s --durations=0

reproduce: $(VENV)/.torch
	$(BIN)/debinet reproduce all --out results

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site results demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Each stamp is one set of installed extras; editing what is to be installed makes them stale.
$(VENV)/.core: $(BIN)/python $(SOURCES)
	$(PIP) -e .
	touch $@

$(VENV)/.torch: $(BIN)/python $(SOURCES)
	$(PIP) -e ".[torch]"
	touch $@

$(VENV)/.test: $(BIN)/python $(SOURCES)
	$(PIP) -e ".[test]"
	touch $@

$(VENV)/.dev: $(BIN)/python $(SOURCES)
	$(PIP) -e ".[dev]"
	touch $@

$(VENV)/.bench: $(BIN)/python $(SOURCES)
	$(PIP) -e ".[test,bench]"
	touch $@
