PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := $(VENV)/.demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
UV := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python
# uv is faster than pip. It does not read the settings of pip, so that pip is tried if it fails.
install = @{ $(PIP) uv && $(UV) --editable "$(1)"; } 2>/dev/null || $(PIP) --editable "$(1)"
DEMO_EXTRAS := .[cli,plot]
BENCH ?= speed --quick
MINUTES ?= 10
FIRST_SEED ?= 0

# Packages are installed without bytecode, so that set-up is short. Python writes it for what is imported;
# without it, each of the processes of the tests would compile NumPy, SciPy and scikit-learn anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-extended test-quick test-lowest coverage test-bounds fuzz browser servers spark lint format bench docs report report-check clean

demo: $(DEMO)
	$(BIN)/pellucid demo --output demo-output

test: $(READY) browser servers spark
	$(BIN)/python -m pytest -n auto --dist worksteal

# Every variant of the parametrised tests; `make test` has one for each behaviour.
test-extended: $(READY) browser servers spark
	PELLUCID_TESTS=extended $(BIN)/python -m pytest -n auto --dist worksteal

# Without the tests that are marked slow.
test-quick: $(READY)
	$(BIN)/python -m pytest tests -n auto --dist worksteal -m "not slow"

# A selection of tests with the lowest declared versions of all packages, and with pandas 2.
LOWEST := .venv-lowest
LOWEST_TESTS := tests/cluster/test_inputs.py tests/cluster/test_tree_methods.py tests/tree tests/explanation \
  tests/export tests/tables tests/reference tests/cli/test_explain.py tests/cli/test_demo.py tests/test_extras.py
test-lowest: $(LOWEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/cache $(LOWEST)/bin/python -m pytest -n auto $(LOWEST_TESTS)

$(LOWEST)/.ready: pyproject.toml tests/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/lowest.txt \
	  --editable ".[cli,dask,excel,onnx,plot,scale,xclusters]" pandas duckdb hypothesis pytest pytest-timeout pytest-xdist
	touch $@

# The tests, and the share of the package's statements that they run; compiled loops are not counted.
coverage: $(READY) browser servers spark
	$(BIN)/python -m pytest -n auto --dist worksteal --cov=pellucid --cov-report=term

# Random problems against exact oracles; `make fuzz MINUTES=60 FIRST_SEED=1000000`.
# `make fuzz BOUNDS=1` checks array bounds in compiled loops, which takes longer.
fuzz: $(READY)
	$(if $(BOUNDS),NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.bounds-cache )$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --first-seed $(FIRST_SEED) --counts fuzz.json

# The tests of the engine with array bounds checked; the machine code has a folder of its own.
test-bounds: $(READY)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.bounds-cache $(BIN)/python -m pytest -n auto --dist worksteal \
	  tests/core tests/cluster tests/reference tests/tree tests/xclusters tests/eop \
	  tests/baselines tests/metrics tests/scale

# The report is tested in a real browser where there is one, or one can be installed.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || { command -v apt-get >/dev/null && apt-get -qq update \
	       && apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1 \
	  || echo "No Chromium here, and none can be installed: tests in a browser are skipped."
	@test -e frontend/node_modules/axe-core \
	  || { { command -v npm || apt-get -qq install -y --no-install-recommends npm; } \
	       && npm --prefix frontend ci --ignore-scripts; } >/dev/null 2>&1 \
	  || echo "No npm packages here: accessibility and the bundle of the report are not tested."

# A local Spark is started where there are Java and pyspark, or they can be installed.
spark: $(READY)
	@{ { command -v java || { apt-get -qq update && apt-get -qq install -y --no-install-recommends \
	       openjdk-17-jre-headless; }; } \
	   && { $(BIN)/python -c "import pyspark" \
	        || $(UV) "pyspark>=4.0" || $(PIP) "pyspark>=4.0"; }; } >/dev/null 2>&1 \
	  || echo "No Java or no pyspark here: tests on Spark are skipped."

# SQL and DOT are tested in real programs where they are, or can be installed.
servers:
	@{ command -v dot && command -v mariadbd && ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 \
	  || { command -v apt-get >/dev/null && apt-get -qq update \
	       && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
	            graphviz postgresql mariadb-server; } >/dev/null 2>&1 \
	  || echo "No Graphviz, PostgreSQL or MariaDB here: tests that run them are skipped."

# The documentation site, in docs/_build/html. All examples are executed, and warnings are errors.
docs: $(VENV)/.docs-ready
	rm -rf docs/api/generated
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

$(VENV)/.docs-ready: $(READY)
	$(call install,.[docs])
	touch $@

# The page of the report, from its sources; only this needs Node.
report:
	cd frontend && npm ci --ignore-scripts --no-audit --no-fund && npm run build

report-check:
	cd frontend && npm ci --ignore-scripts --no-audit --no-fund && npm run check

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.typed

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)

# One environment serves every target; it is updated when the requirements change. The demo needs
# few packages, so that it starts soon.
$(DEMO): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo "Installing NumPy, SciPy, scikit-learn, Numba, polars and matplotlib ..."
	$(call install,$(DEMO_EXTRAS))
	touch $(DEMO)

$(READY): $(DEMO)
	$(call install,.[dev])
	touch $(READY)

clean:
	rm -rf $(VENV) $(LOWEST) frontend/node_modules demo-output docs/_build docs/gallery docs/api/generated docs/api/backreferences .bounds-cache benchmarks/quick dist build .pytest_cache .ruff_cache .hypothesis .coverage
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
