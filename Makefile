# Each target is enough on a fresh machine: it prepares what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTEST_ARGS ?=
# Two processes test at once: the files are shared out among them.
WORKERS ?= 2
BIN := .venv/bin
STAMP := .venv/.kilolock-setup

.PHONY: help setup db serve test test-slow lint format proto verify demo drift-demo bench readme clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## make .venv with everything installed

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Kilolock needs Python 3.11 or later; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

db: setup ## open psql on the embedded database of this checkout
	$(BIN)/kld psql --data-dir .kilolock

serve: setup ## run the server on the embedded database of this checkout
	$(BIN)/kld serve --data-dir .kilolock

test: setup ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

test-slow: setup ## run the long tests, and the thorough ones on every PostgreSQL
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

lint: setup ## check format, style, types and SQL
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/lint

format: setup ## rewrite files into the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proto: setup ## generate the provider protocol's messages again
	$(BIN)/python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. pyengine/provider/proto/*.proto

verify: lint test ## everything that must hold before a merge

demo: setup ## a whole round: server, terraform, SQL; then stop
	$(BIN)/python -m tests.demo

drift-demo: setup ## what drifts: by jq over a raw state, and by one SELECT
	@KL_BIN=$(CURDIR)/$(BIN) examples/big-state/drift-demo.sh

bench: setup ## measure against the budgets; prints and saves a table
	$(BIN)/python -m pytest -m bench tests/bench -s $(PYTEST_ARGS)

readme: setup ## write the README's list of objects from the comments in sql/
	$(BIN)/python -m tests.readme

clean: ## remove what the other targets made, the embedded database excepted
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
