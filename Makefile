# Each target sets itself up in .venv; nothing needs to be installed first but Python and make.
#   make book       build the book and serve it at a local address   make html  only build it
#   make lab        the notebooks in JupyterLab                      make test  every check and test
#   make outputs    run all notebooks and store their outputs        make test-slow  what takes longer
# Options: PYTHON=python3.12 (which Python), PIP_ARGS="..." (options to pip, see README), LAB_ARGS="...".

PYTHON ?= python3
PIP_ARGS ?=
LAB_ARGS ?=

BIN := .venv/bin
PY := $(BIN)/python
READY := .venv/.ready

# Arithmetic of the least capable CPU: the stored numbers must not depend on the machine.
OLD_CPU := ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41
NBVAL := -m pytest --nbval --nbval-current-env --nbval-cell-timeout 300 \
  --nbval-sanitize-with tests/nbval_sanitize.cfg -n 2 --dist loadfile -p no:cacheprovider -q book

.DEFAULT_GOAL := help
.PHONY: help setup book html lab outputs test lint test-python test-notebooks test-browser test-slow clean distclean

help:
	@sed -n '2,5s/^# *//p' Makefile

# --- set-up ----------------------------------------------------------------------------------------------------

python_found = $(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])" 2>/dev/null)
python_ready = $(shell $(PYTHON) -c "import sys, venv, ensurepip; print(sys.version_info >= (3, 11))" 2>/dev/null)
old_python = $(PYTHON) is Python $(python_found), but the course needs 3.11 or newer, with its venv module.
no_python = there is no working Python called "$(PYTHON)", and the course needs Python 3.11 or newer.
name_one = Install it, or name another (make book PYTHON=python3.12)

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	$(if $(filter True,$(python_ready)),,$(error $(if $(python_found),$(old_python),$(no_python)) $(name_one)))
	@echo "Setting up .venv (the first time: some minutes and a large download, see README)"
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -r requirements.txt
	@touch $@

# --- the book --------------------------------------------------------------------------------------------------

book: html
	@$(PY) book/_tools/serve.py

# The build's cache does not see a changed package, and a repeated build does not repeat its warnings: after a change
# of the package, or a build that failed, start from nothing.
html: $(READY)
	@if [ ! -f _build/.built ] || [ $(READY) -nt _build/.built ] || \
	  [ -n "$$(find lessons_pkg book/*.ipynb book/*.toml -type f ! -name '*.pyc' ! -name '*.js' ! -name '*.css' -newer _build/.built)" ]; \
	  then rm -rf _build; fi
	@mkdir -p _build && rm -f _build/.built && touch _build/.begun
	LESSONS_BOOK=1 $(BIN)/jupyter-book build . -W --keep-going -n
	@mv _build/.begun _build/.built

lab: $(READY)
	$(BIN)/jupyter lab --ServerApp.root_dir=book $$([ "$$(id -u)" != 0 ] || echo --allow-root) $(LAB_ARGS)

outputs: $(READY)
	$(PY) book/_tools/run_notebooks.py

# --- tests -----------------------------------------------------------------------------------------------------

# One after the other, also under `make -j`.
test: $(READY)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test-python
	@$(MAKE) --no-print-directory test-notebooks
	@$(MAKE) --no-print-directory html
	@$(MAKE) --no-print-directory test-browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Twice: with every shape annotation checked at run time, then as a user runs it.
test-python: $(READY)
	$(PY) -m pytest tests -m "not guard and not browser and not slow and not gpu" \
	  --jaxtyping-packages=lessons_pkg.attention,beartype.beartype -q
	$(PY) -m pytest tests -m "not browser and not slow" --cov=lessons_pkg -q

test-notebooks: $(READY)
	$(PY) $(NBVAL)
	$(OLD_CPU) $(PY) $(NBVAL)

test-browser: $(READY)
	$(PY) -m pytest tests -m browser -q

test-slow: $(READY)
	$(PY) -m pytest tests -m slow -q

# --- tidy ------------------------------------------------------------------------------------------------------

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage

distclean: clean
	rm -rf .venv
