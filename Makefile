# `make demo` and `make test` are the two commands of the README; each makes its own virtual environment from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TYPES := build/types/lanelink

.PHONY: all venv demo test lint types lit pytest ptx clean

all: test

venv: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,kernels]'
	touch $(STAMP)

demo: venv
	$(BIN)/python examples/demo.py

test: lint types lit pytest

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The type checker reads the package as it is imported: a tree of links, laid as setuptools maps the folders.
types: venv
	rm -rf build/types && mkdir -p $(TYPES)
	cp -rs $(CURDIR)/lanelink/* $(TYPES)/
	cp -rs $(CURDIR)/dialects $(CURDIR)/passes $(CURDIR)/lowering $(CURDIR)/kernels $(CURDIR)/frontend $(TYPES)/
	$(BIN)/basedpyright --project pyrightconfig.json

lit: venv
	$(BIN)/lit --quiet filecheck

pytest: venv
	$(BIN)/python -m pytest -q

# Rebuild the committed PTX from the CUDA sources.
ptx: venv
	$(BIN)/python -m lanelink.kernels.build

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache
