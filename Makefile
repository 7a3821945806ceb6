PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Visitors share cores and memory: NumPy's products on one thread, as torch's are, and few heaps for malloc.
SHARED := OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2

.PHONY: run test train bench lint

run: $(VENV)/run
	$(SHARED) $(BIN)/streamlit run app.py

test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest

train: $(VENV)/train
	$(BIN)/python -m model.training $(RECIPE) --data $(DATA)

bench: $(VENV)/test
	$(SHARED) $(BIN)/python -m tests.bench

lint: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/run: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/test: $(VENV)/run tests/requirements.txt model/training/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

$(VENV)/train: $(VENV)/run model/training/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r model/training/requirements.txt
	touch $@
