# Every target sets up what it needs: a virtual environment (uv if present, else venv + pip) from constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PYTHONUTF8 := 1

define install
	@if command -v uv >/dev/null 2>&1; then \
	  { [ -x $(BIN)/python ] || uv venv -q $(VENV); } && VIRTUAL_ENV=$(CURDIR)/$(VENV) uv pip install -q -c constraints.txt -e ".[$(1)]"; \
	else \
	  { [ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV); } && $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[$(1)]"; \
	fi
	@touch $@
endef

.PHONY: demo test coverage soak serve lint bench docs clean

demo: $(VENV)/.run            ## the main job, embedded, without a key or a server
	@$(BIN)/newagent demo

test: $(VENV)/.test           ## every test
	@$(BIN)/python -m pytest -n 2 --dist worksteal

coverage: $(VENV)/.test       ## every test, several times slower, with the lines and branches that none of them runs
	@$(BIN)/python -m pytest -n 2 --dist worksteal --cov=newagent --cov-report=term-missing:skip-covered

soak: $(VENV)/.test           ## the long runs too
	@$(BIN)/python -m pytest -n 2 -m "soak or not soak"

serve: $(VENV)/.run           ## the agent over HTTP and SSE, on this machine only
	@$(BIN)/newagent serve

lint: $(VENV)/.lint           ## format, lint, types, layers
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/pyright && PYTHONPATH=. $(BIN)/lint-imports --no-cache

bench: $(VENV)/.bench         ## placement and judge against the exact optimum
	@$(BIN)/python -m benchmarks.placement && $(BIN)/python -m benchmarks.judge

$(VENV)/.run: pyproject.toml constraints.txt
	$(call install,run)
$(VENV)/.test: pyproject.toml constraints.txt
	$(call install,test)
$(VENV)/.lint: $(VENV)/.test
	$(call install,lint)
$(VENV)/.bench: pyproject.toml constraints.txt
	$(call install,bench)

docs: $(VENV)/.test           ## the pages that are made from the code
	@$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .coverage
