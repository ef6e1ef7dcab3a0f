# Every developer command. `make` or `make help` lists them.

export PATH := $(CURDIR)/.venv/bin:$(PATH):$(HOME)/.cargo/bin
PY := .venv/bin/python
RUST_SOURCES := Cargo.toml Cargo.lock rust-toolchain.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
DEMO := spec-fixtures/nanopubs/log.trig
FUZZ_SECONDS ?= 60
FUZZ_LAWS_SECONDS ?= 20
FUZZ_RUNS ?= -1
FUZZ_FORMATS ?= $(shell $(PY) -c 'from rdfm import _core; print(*_core.format_names())')
FUZZ_TARGETS ?= splits regroup sniff archive query analysis
FUZZ_LIMITS := -max_len=4096 -rss_limit_mb=1024 -timeout=20
# The folder with the suites of the specifications; only test-suites runs the tests that read it.
SUITES := $(abspath $(or $(RDFM_SHARED),../shared))
# What `make test-fast` runs in Python: round trips through every format, the command line and the API.
FAST := not slow and not spark and not peers and not suites
FAST_IGNORED := $(addprefix tests/,differential docs peers project spark/session spec) \
  $(filter-out tests/property/test_round_trips%,$(wildcard tests/property/*.py))
BROWSERS := chromium chromium-browser google-chrome chrome
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := fuzz/target/cargo-fuzz-$(CARGO_FUZZ_VERSION)/bin/cargo-fuzz
FUZZ := RUSTC_BOOTSTRAP=1 $(CARGO_FUZZ) run -s none

.DEFAULT_GOAL := help
.PHONY: help demo build dev test test-fast test-fast-rust test-fast-python test-rust test-python test-plain test-spark test-suites lint fmt types bench bench-growth bench-spark fuzz docs soak peers wheel generate notices lock clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-12s %s\n", $$1, $$2 }'

demo: build ## Set up what is missing, then convert a message log between formats, and read it in Spark
	@mkdir -p build
	@echo; echo '$$ rdfm convert $(DEMO) build/demo.jelly'
	@.venv/bin/rdfm convert $(DEMO) build/demo.jelly
	@echo; echo '$$ rdfm convert build/demo.jelly build/demo.nq'
	@.venv/bin/rdfm convert build/demo.jelly build/demo.nq
	@echo; echo '$$ head -n 5 build/demo.nq'
	@head -n 5 build/demo.nq
	@echo; echo '$$ rdfm inspect build/demo.jelly'
	@.venv/bin/rdfm inspect build/demo.jelly
	@echo; echo 'And in Spark, which takes some seconds to start:'
	@$(PY) tools/demo_spark.py
	@echo; echo 'The command is .venv/bin/rdfm; docs/start.md goes on from here.'

build: .venv/.built ## The .venv with pinned dependencies and the release build of the core

# The folder is the project's own; a copied or broken one is made anew.
.venv/.installed: requirements.lock tools/prerequisites.sh
	@tools/prerequisites.sh
	@$(PY) -c '' 2>/dev/null || $$(tools/prerequisites.sh python) -m venv --clear .venv
	@echo 'Installing the pinned Python packages into .venv'
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# The fast loop: incremental, without link-time optimization. `make build` makes the release build again.
dev: .venv/.dev ## An incremental build of the core, for development

.venv/.dev: .venv/.installed pyproject.toml $(RUST_SOURCES)
	@tools/prerequisites.sh
	@MATURIN_PEP517_ARGS='--profile dev-release' $(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
	@touch -t 197001010000 .venv/.built

.venv/.built: .venv/.installed pyproject.toml $(RUST_SOURCES)
	@tools/prerequisites.sh
	@echo 'Building the core (a few minutes the first time)'
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@ .venv/.dev

test: test-rust test-python ## All tests of both languages that need nothing but this repository
	@echo
	@echo 'All tests passed. Not run:'
	@echo '  make test-suites  the suites of the specifications, in the folder RDFM_SHARED or ../shared'
	@echo '  make peers        comparisons with programs for a JVM and for Node'
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit; done; \
	  echo '  make test         with Chromium installed: the page of `rdfm inspect --html` in a browser'

# These never read the suites, whatever the environment says.
test test-rust test-python test-plain test-fast-rust test-fast-python test-spark: export RDFM_SHARED :=

test-rust: ## The tests of the Rust crates
	cargo test --quiet --locked

test-python: build ## The tests in Python, those with a Spark session beside the others
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-plain test-spark

test-plain: build ## The tests in Python without a Spark session
	$(PY) -m pytest -m 'not spark and not peers and not suites'

test-fast: .venv/.dev ## One minute of tests of both languages, with the build of `make dev`
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-fast-rust test-fast-python

test-fast-rust:
	cargo test --quiet --locked -p rdfm-core --lib

test-fast-python:
	$(PY) -m pytest --quiet --hypothesis-profile=fast -m '$(FAST)' $(addprefix --ignore=,$(FAST_IGNORED))

test-spark: build ## The tests with a Spark session
	$(PY) -m pytest -m spark

test-suites: build ## The tests over the suites of the specifications, from RDFM_SHARED or ../shared
	@[ -d '$(SUITES)' ] || { echo 'no folder $(SUITES): RDFM_SHARED names the folder of the suites' >&2; exit 1; }
	RDFM_SHARED='$(SUITES)' cargo test --quiet --locked -p rdfm-core --tests -- --ignored
	RDFM_SHARED='$(SUITES)' $(PY) -m pytest -m 'suites and not peers'

lint: .venv/.installed ## Format, lints, imports and type names of both languages, warnings are errors
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	ruff format --check .
	ruff check .
	$(PY) tools/check_imports.py
	$(PY) tools/check_names.py

fmt: .venv/.installed ## Format both languages
	cargo fmt --all
	ruff format .
	ruff check --fix --select I .

types: build ## mypy --strict, the examples of the docs with mypy and pyright, and the stubs against the extension
	mypy
	$(PY) tools/check_types.py
	MYPYPATH=. stubtest rdfm._core --ignore-missing-stub --mypy-config-file pyproject.toml

bench: build ## rdfm beside pyjelly, pyoxigraph and rdflib, ratios printed
	$(PY) benchmarks/run.py

bench-growth: build ## What twice the bytes of hostile JSON-LD and YAML-LD cost, ratios printed
	$(PY) benchmarks/growth.py

bench-spark: build ## rdfm in Spark beside pyoxigraph and pyjelly there, ratios printed
	$(PY) benchmarks/spark.py

fuzz: build $(CARGO_FUZZ) ## Fuzz each format for FUZZ_SECONDS, then every law for FUZZ_LAWS_SECONDS
	@$(PY) tools/fuzz_seeds.py
	@for format in $(FUZZ_FORMATS); do \
	  echo "fuzzing $$format for $(FUZZ_SECONDS) s"; \
	  RDFM_FUZZ_FORMAT=$$format $(FUZZ) quick fuzz/corpus/$$format -- $(FUZZ_LIMITS) -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) || exit 1; \
	  echo "every law on the corpus of $$format, then fuzzing for $(FUZZ_LAWS_SECONDS) s"; \
	  RDFM_FUZZ_FORMAT=$$format $(FUZZ) laws fuzz/corpus/$$format -- $(FUZZ_LIMITS) -max_total_time=$(FUZZ_LAWS_SECONDS) || exit 1; \
	done
	@for target in $(FUZZ_TARGETS); do \
	  echo "fuzzing $$target for $(FUZZ_SECONDS) s"; \
	  $(FUZZ) $$target fuzz/corpus/$$target -- $(FUZZ_LIMITS) -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) || exit 1; \
	done

# The pinned stable compiler: RUSTC_BOOTSTRAP lets it count what an input reaches, which it has only as a flag of
# nightly, and without a sanitizer (-s none) nothing else of nightly is needed.
$(CARGO_FUZZ):
	@echo 'Installing cargo-fuzz $(CARGO_FUZZ_VERSION) into fuzz/target'
	@cargo install --quiet --locked --root $(@D:/bin=) --version $(CARGO_FUZZ_VERSION) cargo-fuzz || { \
	  echo 'make fuzz needs cargo-fuzz; where crates.io is reached, this installs it:' >&2; \
	  echo '  cargo install --locked --root $(@D:/bin=) --version $(CARGO_FUZZ_VERSION) cargo-fuzz' >&2; exit 1; }

docs: build ## Check the links and run the code blocks of the docs
	$(PY) tools/check_docs.py

soak: build wheel ## What takes long: the random tests many times over, every kill of Spark's writers
	RDFM_FUZZ_SECONDS=600 cargo test --quiet --locked --release -p rdfm-laws
	$(PY) -m pytest --quiet -m 'not peers' --hypothesis-profile=soak tests/property
	RDFM_JSONLD_DOCUMENTS=100000 $(if $(wildcard fuzz/corpus/ndjsonld),RDFM_JSONLD_CORPUS=fuzz/corpus/ndjsonld) \
	  $(PY) -m pytest --quiet tests/differential/test_jsonld_reading.py
	RDFM_KILLS=24 $(PY) -m pytest --quiet tests/spark/session/test_failures.py

peers: build ## Against programs that are no Python packages (a JVM, Node)
	RDFM_JSONLD_DOCUMENTS=10000 $(PY) -m pytest -m peers

wheel: .venv/.installed ## Build the wheel as it is published, check its size and contents, and run it from elsewhere
	$(PY) tools/check_wheel.py

generate: build ## Write anew what derives from the declarations of formats: types for editors, tables of options
	$(PY) tools/generate.py

notices: .venv/.installed ## Write THIRD_PARTY_NOTICES.txt anew
	$(PY) tools/notices.py

lock: ## Write requirements.lock anew (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --python-version 3.11 \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements.lock

clean: ## Remove everything that was built, .venv included
	rm -rf .venv build dist target fuzz/target .pytest_cache .mypy_cache .ruff_cache .hypothesis rdfm/_core*.so
