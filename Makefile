# make demo    set up and watch robots go astray
# make test    set up and run the tests
# make docs    set up and build the site: docs/_build/html/index.html

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)

.PHONY: setup demo test lint types docs docs-pictures bench clean

setup: .venv/ready

# Bytecode is compiled at once, ours too: otherwise the first minutes of use would pay for it, and
# every start where PYTHONDONTWRITEBYTECODE is set.
.venv/ready: pyproject.toml
ifneq ($(UV),)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python -e ".[dev]"
else
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
endif
	$(BIN)/python -m compileall -q src
	@touch $@

demo: setup
	$(BIN)/astray demo --out out/demo

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src tests docs examples benchmarks README.md CHANGELOG.md CONTRIBUTING.md

types: setup
	$(BIN)/mypy

docs: setup
	$(BIN)/python -m sphinx -W --keep-going --quiet -E -j auto -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

docs-pictures: setup
	$(BIN)/python docs/make_pictures.py

bench: setup
	$(BIN)/python benchmarks/tick.py
	$(BIN)/python benchmarks/signals.py

clean:
	rm -rf .venv out build dist docs/_build
