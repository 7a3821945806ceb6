PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test train bench lint

run: $(VENV)/run
	$(BIN)/streamlit run app.py

test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest

train: $(VENV)/train
	$(BIN)/python -m model.training $(RECIPE) --data $(DATA)

bench: $(VENV)/test
	$(BIN)/python -m tests.bench

lint: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/run: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/test: $(VENV)/run tests/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

$(VENV)/train: $(VENV)/run model/training/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r model/training/requirements.txt
	touch $@
