PYTHON ?= python3
# What may be said on the command line. It reaches the shell by the environment, and make reads nothing in it, so that
# `MODELS="a;touch x"` names a strange model and runs no touch. $(value …) is the text as it was typed.
SAID := PYTHON MODELS MODELS_FROM WORKERS PORT APP FRAMED_BY RECIPE DATA MODEL VISITORS THINK SECONDS PLACES HOSTILE RUNS SENTENCES
$(foreach name,$(SAID),$(if $(value $(name)),$(eval override $(name) := $$(value $(name)))$(eval export $(name))))
VENV := .venv
BIN := $(VENV)/bin
# Visitors share cores and memory: NumPy's products on one thread, as torch's are; few heaps for malloc, and what is
# large beside them, so that it goes back at once.
SHARED := OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144

# What `make class` and `make soak` may be told: VISITORS="10 30" (soak: one number), WORKERS=2, THINK=2, SECONDS=20; and
# a class PLACES="walk attention"; a soak HOSTILE=1 (visitors who ask for the most that a link can ask for, for a minute).
CLASS = $(if $(VISITORS),--visitors $$VISITORS) $(if $(WORKERS),--workers "$$WORKERS") $(if $(THINK),--think "$$THINK") \
	$(if $(SECONDS),--seconds "$$SECONDS") $(if $(PLACES),--places $$PLACES)

# MODELS="folder org/name": whose encoders are offered, too. What is no folder is fetched from the Hugging Face hub.
FETCH = $(if $(MODELS),$(BIN)/python -m model.checkpoints $$MODELS)

.PHONY: run dev serve site test newest train bench class soak lint lock

run: $(VENV)/run
	$(FETCH)
	exec env $(SHARED) .serve/keep "The server" $(BIN)/streamlit run app.py $(if $(PORT),--server.port "$$PORT")

# The server for who changes the code: it starts anew whenever a file is saved.
dev: $(VENV)/run
	exec env $(SHARED) GLASS_DEV=1 $(BIN)/python .serve/dev.py $(BIN)/streamlit run app.py $(if $(PORT),--server.port "$$PORT")

serve: $(VENV)/run
	$(FETCH)
	exec env $(SHARED) PYTHON=$(BIN)/python .serve/serve

# The run on one screen as a folder for any host of files. APP=https://… : the app to which its pictures lead.
# RUNS="folder org/name" SENTENCES=file : a gallery of these encoders' runs, a sentence on each line of the file.
site: $(VENV)/site
	$(BIN)/python -m model.overview.site site $(if $(APP),"$$APP") $(if $(RUNS),--runs $$RUNS) \
		$(if $(SENTENCES),--sentences "$$SENTENCES")

# Types are checked beside the tests: by themselves they would leave a core idle. Three workers for two cores, since
# journeys wait half of their time.
test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest --rerun-show-tracebacks --numprocesses 3 --dist loadfile --no-loadscope-reorder && \
	wait $$types

# The newest Streamlit and Plotly with all that they need, before ours on the path: is there what we use of them that
# they promise nobody, and do pages open?
newest: $(VENV)/test
	rm -rf .newest
	$(BIN)/pip install --quiet --disable-pip-version-check --target .newest streamlit plotly
	$(BIN)/pip list --disable-pip-version-check --path .newest
	PYTHONPATH=.newest $(BIN)/python -m pytest tests/server/test_streamlit_private.py tests/server/test_server.py \
		tests/server/test_memory.py tests/pages/test_attention.py tests/pages/test_home.py

train: $(VENV)/train
	$(BIN)/python -m model.training $(if $(RECIPE),"$$RECIPE") $(if $(DATA),--data "$$DATA") $(if $(MODEL),--model "$$MODEL")

bench: $(VENV)/test
	$(SHARED) $(BIN)/python -m tests.bench
	$(BIN)/python -m tests.browser.bench
	$(BIN)/python -m tests.browser.painted

class: $(VENV)/test
	$(BIN)/python -m tests.classroom class $(CLASS)

soak: $(VENV)/test
	$(BIN)/python -m tests.classroom soak $(CLASS) $(if $(HOSTILE),--hostile)

lint: $(VENV)/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every version of all that is installed, with the hashes of its files, by uv; but for PyTorch and what its build for
# graphics cards brings along, of which there are several: pip takes it by requirements.txt from the index that one names.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
OTHERS = awk 'FILENAME ~ /lock$$/ {if (!/;/) known[$$1]; next} /^[a-z]/ {skip = $$1 in known || /^(torch|triton|cuda-|nvidia-)/} !skip'
lock: $(VENV)/run
	$(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.9
	$(COMPILE) requirements.txt | $(OTHERS) >requirements.lock
	$(COMPILE) --constraint requirements.lock tests/requirements.txt | $(OTHERS) requirements.lock - >tests/requirements.lock

LOCKED = $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps

$(VENV)/run: requirements.txt requirements.lock
	@"$$PYTHON" -c 'import sys; sys.exit("Python 3.11 or newer is needed: make run PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	"$$PYTHON" -m venv $(VENV)
	$(LOCKED) -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/test: $(VENV)/run tests/requirements.lock
	$(LOCKED) -r tests/requirements.lock
	touch $@

$(VENV)/site: $(VENV)/run model/overview/site/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r model/overview/site/requirements.txt
	touch $@

$(VENV)/train: $(VENV)/run model/training/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r model/training/requirements.txt
	touch $@
