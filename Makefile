# Everything runs in .venv, which the first command makes: python3 (3.11 or newer), make and a package registry are
# all that is needed.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header
LOCK := $(COMPILE) pyproject.toml sdk/pyproject.toml --no-emit-package memtrace-recorder \
	--extra fast --extra otel --extra optimize --extra replay --extra nats-local --extra neo4j-local --group build
ifdef PIP_INDEX_URL # uv reads no settings of pip
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

.PHONY: help setup setup-dev secrets demo demo-optimize test test-all full-passed fuzz torture lint format bench lock vendor screenshots collector clean

help:
	@echo "make demo    import a recorded agent, and say why three of its eight answers are wrong"
	@echo "make demo-optimize  improve the prompts of an agent, and take them back"
	@echo "make test    run the tests of every change, with a real Neo4j, NATS, object storage and browser"
	@echo "make test-all run all tests, on both engines and two versions of Neo4j"
	@echo "make torture 100 kills under load, a million waiting events, Neo4j away for two minutes: what is in the graph?"
	@echo "make fuzz    send more than 20,000 strange requests to all interfaces, half of them events"
	@echo "make secrets make the random secrets of docker-compose.yml, once"
	@echo "make lint    ruff, mypy, import-linter, and the cost of each regular expression"
	@echo "make bench   run the benchmarks"
	@echo "make lock    pin the newest versions that pyproject.toml allows, in all three locks"
	@echo "make vendor  make the scripts of the web pages anew, from their lock (needs node and npm)"
	@echo "make screenshots  pictures of all web pages, in .screenshots/"
	@echo "make collector OpenTelemetry's Collector, in .collector/, for its test (needs Go)"

setup: .venv/ready

setup-dev: .venv/ready-dev

.venv/ready: requirements-uv.lock requirements.lock pyproject.toml sdk/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-uv.lock
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation -e . -e sdk
	@touch .venv/ready

.venv/ready-dev: .venv/ready requirements-dev.lock
	$(INSTALL) --require-hashes -r requirements-dev.lock
	@touch .venv/ready-dev

demo: export PYTHONDONTWRITEBYTECODE = # its many processes compile each module once
demo: setup
	@rm -rf .demo
	@$(BIN)/python -m examples.demo .demo

# A full run of the prompt optimisation, with a scripted model.
demo-optimize: export PYTHONDONTWRITEBYTECODE =
demo-optimize: setup
	@rm -rf .demo/prompts && mkdir -p .demo
	$(BIN)/python -m examples.better_prompts .demo/prompts

test: setup-dev
	$(BIN)/python -m tests

test-all: setup-dev
	$(BIN)/python -m tests tests

# After all tests have passed: the next runs of .ci/run test what changes from here.
full-passed:
	git rev-parse HEAD > .ci/last-full

torture: setup-dev
	MEMTRACE_TORTURE_KILLS=100 MEMTRACE_BACKLOG_EVENTS=1000000 MEMTRACE_OUTAGE_SECONDS=120 \
		$(BIN)/python -m tests tests/torture

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.patterns

format: setup-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

secrets:
	@docker/secrets.sh

fuzz: setup-dev
	MEMTRACE_FUZZ_EXAMPLES=500 $(BIN)/python -m tests tests/fuzz

bench: setup-dev
	$(BIN)/python -m benchmarks

lock: setup
	$(LOCK) --group dev --extra notebook-objects --upgrade -o requirements-dev.lock
	$(LOCK) --constraints requirements-dev.lock -o requirements.lock
	echo uv | $(COMPILE) --upgrade -o requirements-uv.lock -

vendor: setup
	$(BIN)/python -m api.web.vendor

screenshots: setup-dev
	$(BIN)/python -m tests.web.screenshots

collector:
	go run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config tests/server/collector-builder.yaml

clean:
	rm -rf .venv .demo .screenshots .collector
