# The developer commands. `make` or `make help` lists them.

export PATH := $(CURDIR)/.venv/bin:$(PATH):$(HOME)/.cargo/bin
PY := .venv/bin/python
RUST_SOURCES := .cargo/config.toml Cargo.toml Cargo.lock rust-toolchain.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
DEMO := spec-fixtures/nanopubs/log.trig
FUZZ_SECONDS ?= 60
FUZZ_LAWS_SECONDS ?= 20
FUZZ_RUNS ?= -1
FUZZ_FORMATS ?= $(shell $(PY) -c 'from rdfm import _core; print(*_core.format_names())')
FUZZ_TARGETS ?= splits regroup sniff archive query analysis yaml_block
FUZZ_LIMITS := -max_len=4096 -rss_limit_mb=1024 -timeout=20
# Python processes of the tests without a Spark session, which often wait. A few of their tests need 4 GB of memory.
TEST_PROCESSES ?= 2
# Folder of the conformance suites, which only `make test-suites` reads.
SUITES := $(abspath $(or $(RDFM_SHARED),../shared))
# Selects the Python tests of `make test-fast`: round trips through every format, the command line
# and the API.
FAST := not slow and not spark and not peers and not suites
FAST_IGNORED := $(addprefix tests/,differential docs peers project spark/session spec) \
  $(filter-out tests/property/test_round_trips%,$(wildcard tests/property/*.py))
BROWSERS := chromium chromium-browser google-chrome chrome
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := fuzz/target/cargo-fuzz-$(CARGO_FUZZ_VERSION)/bin/cargo-fuzz
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := build/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny
# `advisories` needs access to the network.
DENY := bans licenses sources
FUZZ := RUSTC_BOOTSTRAP=1 $(CARGO_FUZZ) run -s none

.DEFAULT_GOAL := help
.PHONY: help demo build dev test test-fast test-fast-rust test-fast-python test-rust test-python test-plain test-spark test-spark-versions test-object-stores test-suites test-suites-rust test-suites-python test-examples earl lint fmt types bench bench-gains bench-growth scale bench-spark fuzz docs soak peers wheel standalone checks deny site release generate notices lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-12s %s\n", $$1, $$2 }'

demo: build ## Set up the .venv, convert a message log between formats, and read it in Spark
	@mkdir -p build
	@echo; echo '$$ rdfm convert $(DEMO) build/demo.jelly'
	@.venv/bin/rdfm convert $(DEMO) build/demo.jelly
	@echo; echo '$$ rdfm convert build/demo.jelly build/demo.nq'
	@.venv/bin/rdfm convert build/demo.jelly build/demo.nq
	@echo; echo '$$ head -n 5 build/demo.nq'
	@head -n 5 build/demo.nq
	@echo; echo '$$ rdfm inspect build/demo.jelly'
	@.venv/bin/rdfm inspect build/demo.jelly
	@echo; echo 'In Spark, which takes a few seconds to start:'
	@$(PY) tools/demo_spark.py
	@echo; echo 'The command is .venv/bin/rdfm. To continue, read docs/start.md.'

build: .venv/.built ## Set up the .venv with pinned dependencies, and build the core in release mode

# If .venv is missing, incomplete or a copy whose Python does not start, create it again.
.venv/.installed: requirements.lock tools/prerequisites.sh
	@tools/prerequisites.sh
	@$(PY) -c '' 2>/dev/null || $$(tools/prerequisites.sh python) -m venv --clear .venv
	@echo 'Installing the pinned Python packages into .venv'
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# Incremental, without link-time optimization. `make build` restores the release build.
dev: .venv/.dev ## Build the core incrementally, for development

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

test: test-rust test-python ## Run all tests in both languages that need only this repository
	@echo
	@echo 'All tests passed. Not run:'
	@echo '  make test-suites  the conformance suites, in the folder RDFM_SHARED or ../shared'
	@echo '  make peers        comparisons with JVM and Node programs'
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit; done; \
	  echo '  make test         with Chromium installed: the page of `rdfm inspect --html` in a browser'

# These targets never read the suites, even if RDFM_SHARED is set.
test test-rust test-python test-plain test-fast-rust test-fast-python test-spark test-spark-versions: export RDFM_SHARED :=

test-rust: ## Run the tests of the Rust crates
	cargo test --quiet --locked

test-python: build ## Run the Python tests; those with a Spark session run in parallel with the others
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-plain test-spark

test-plain: build ## Run the Python tests that need no Spark session
	$(PY) -m pytest --numprocesses=$(TEST_PROCESSES) -m 'not spark and not peers and not suites'

test-fast: .venv/.dev ## Run one minute of tests in both languages, with the build of `make dev`
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-fast-rust test-fast-python

test-fast-rust:
	cargo test --quiet --locked -p rdfm-core --lib

test-fast-python:
	$(PY) -m pytest --quiet --hypothesis-profile=fast -m '$(FAST)' $(addprefix --ignore=,$(FAST_IGNORED))

test-spark: build ## Run the tests that need a Spark session
	$(PY) -m pytest -m spark

test-spark-versions: build ## Run selected tests with each supported version of PySpark (installs 1.3 GB)
	$(PY) tools/spark_versions.py

test-object-stores: build build/object-stores/.installed ## Test Spark with a double of Amazon S3, and kill drivers RDFM_KILLS times
	PYTHONPATH=build/object-stores $(PY) -m pytest --quiet tests/spark/session/test_object_stores.py

# For this target only, since the packages are large.
build/object-stores/.installed: requirements-object-stores.lock .venv/.installed
	@$(PY) -m pip install --quiet --disable-pip-version-check --upgrade --target build/object-stores --require-hashes -r requirements-object-stores.lock
	@touch $@

test-suites: build ## Run the tests of the conformance suites in RDFM_SHARED or ../shared
	@[ -d '$(SUITES)' ] || { echo '$(SUITES) is not a folder: set RDFM_SHARED to the folder of the suites' >&2; exit 1; }
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-suites-rust test-suites-python

test-suites-rust test-suites-python: export RDFM_SHARED := $(SUITES)

# The same crates as in test-rust: with fewer, the features of rdfm-core would differ, and cargo
# would build it again.
test-suites-rust:
	cargo test --quiet --locked --tests -- --ignored

test-suites-python: build
	$(PY) -m pytest --numprocesses=$(TEST_PROCESSES) -m 'suites and not peers'

test-examples: build ## Run the programs in examples/
	$(PY) -m pytest tests/examples tests/spark/session/test_example.py

earl: export RDFM_SHARED := $(SUITES)
earl: build ## Write EARL reports of the suites of Jelly-RDF and RDF Messages to build/earl
	$(PY) tools/earl.py build/earl

lint: .venv/.installed ## Check formatting, lints, imports and type names in both languages; warnings are errors
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	ruff format --check .
	ruff check .
	$(PY) tools/check_imports.py
	$(PY) tools/check_names.py

fmt: .venv/.installed ## Format the sources in both languages
	cargo fmt --all
	ruff format .
	ruff check --fix --select I .

types: build ## Check types with mypy --strict, the examples in the docs with mypy and pyright, and the stubs of the core
	mypy
	$(PY) tools/check_types.py
	MYPYPATH=. stubtest rdfm._core --ignore-missing-stub --mypy-config-file pyproject.toml

bench: build ## Compare rdfm with pyjelly, pyoxigraph, rdflib and Jelly-JVM, and print the ratios
	$(PY) benchmarks/run.py
	$(PY) benchmarks/live.py
	$(PY) benchmarks/web.py

bench-gains: build ## Measure the gain of each fast path; PATHS='jelly-rows splits' selects some
	cargo bench --quiet --locked -p rdfm-core --features switches --bench gains -- $(PATHS)
	$(PY) benchmarks/gains.py $(PATHS)

bench-growth: build ## Measure the cost of doubling the size of hostile JSON-LD and YAML-LD
	$(PY) benchmarks/growth.py

scale: build ## Measure time and memory at SIZE times the size of real datasets, and twice that; DISK=40 GB at most
	$(PY) benchmarks/scale/run.py --size $(SIZE) --disk $(or $(DISK),40)

bench-spark: build ## Compare rdfm in Spark with pyoxigraph and pyjelly, and print the ratios
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

# Fuzzing uses the pinned stable compiler. RUSTC_BOOTSTRAP enables its coverage counters, which are
# a nightly feature; without a sanitizer (-s none) no other nightly feature is needed.
$(CARGO_FUZZ):
	@echo 'Installing cargo-fuzz $(CARGO_FUZZ_VERSION) into fuzz/target'
	@cargo install --quiet --locked --root $(@D:/bin=) --version $(CARGO_FUZZ_VERSION) cargo-fuzz || { \
	  echo 'make fuzz needs cargo-fuzz. With access to crates.io, this installs it:' >&2; \
	  echo '  cargo install --locked --root $(@D:/bin=) --version $(CARGO_FUZZ_VERSION) cargo-fuzz' >&2; exit 1; }

docs: build ## Check the links and run the code blocks of the docs
	$(PY) tools/check_docs.py

# The tools of the lock file, in an environment of their own: they are not needed to use or change rdfm.
build/tools/.installed: requirements-checks.lock .venv/.installed
	@$(PY) -m venv --clear build/tools
	@build/tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-checks.lock
	@touch $@

standalone: .venv/.installed ## Build the command as a folder that needs no Python, in dist, from the wheel there
	@ls dist/rdfm-*.whl >/dev/null 2>&1 || $(MAKE) --no-print-directory wheel
	$(PY) tools/standalone.py

checks: build/tools/.installed ## Check the workflows, action.yml and the Dockerfile
	build/tools/bin/zizmor --quiet --offline .github action.yml
	build/tools/bin/hadolint Dockerfile

deny: $(CARGO_DENY) ## Check the crates: licences, sources, duplicates; DENY=advisories for known vulnerabilities
	$(CARGO_DENY) --all-features --locked check $(DENY)

$(CARGO_DENY):
	@echo 'Installing cargo-deny $(CARGO_DENY_VERSION) into build'
	@cargo install --quiet --locked --root $(@D:/bin=) --version $(CARGO_DENY_VERSION) cargo-deny

site: build build/tools/.installed ## Build the site of the docs in build/site, which needs no server and no network
	$(PY) tools/site/build.py

soak: build wheel ## Run the long tests: many more random tests, and writers killed at every point
	RDFM_FUZZ_SECONDS=600 cargo test --quiet --locked --release -p rdfm-laws
	RDFM_EXAMPLE_MB=500 $(PY) -m pytest --quiet -m 'not peers' --hypothesis-profile=soak tests/property
	RDFM_JSONLD_DOCUMENTS=100000 $(if $(wildcard fuzz/corpus/ndjsonld),RDFM_JSONLD_CORPUS=fuzz/corpus/ndjsonld) \
	  $(PY) -m pytest --quiet tests/differential/test_jsonld_reading.py
	RDFM_KILLS=24 $(PY) -m pytest --quiet tests/spark/session/test_failures.py tests/spark/session/test_archives.py
	RDFM_KILLS=50 $(MAKE) --no-print-directory test-object-stores
	RDFM_KILLS=50 $(PY) -m pytest --quiet tests/nanopub/test_fetching.py tests/live/test_kills.py -k kill
	RDFM_LOAD=10 $(PY) -m pytest --quiet tests/live/test_web_load.py

peers: build ## Compare with programs that are not Python packages (JVM, Node)
	RDFM_JSONLD_DOCUMENTS=10000 $(PY) -m pytest -m peers

build/publish/.installed: requirements-publish.lock .venv/.installed
	@$(PY) -m venv --clear build/publish
	@build/publish/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-publish.lock
	@touch $@

wheel: build/publish/.installed ## Build the wheel for publication in dist, check its size and contents, and test it outside the repository
	$(PY) tools/check_wheel.py
	tools/sbom.sh dist/rdfm-*.whl dist/rdfm.cdx.json build/publish/bin/python

release: .venv/.installed ## Commit and tag the release VERSION, such as 0.1.0; nothing is pushed
	$(PY) tools/release.py '$(VERSION)'

generate: build ## Write the files generated from declarations: types for editors, option tables
	$(PY) tools/generate.py

notices: .venv/.installed ## Write THIRD_PARTY_NOTICES.txt
	$(PY) tools/notices.py

lock: ## Write requirements.lock with the newest versions (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --python-version 3.11 \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements.lock
	uv pip compile --group pyproject.toml:checks --universal --generate-hashes --python-version 3.11 \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements-checks.lock
	uv pip compile --group pyproject.toml:object-stores --universal --generate-hashes --python-version 3.11 \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements-object-stores.lock
	uv pip compile --group pyproject.toml:publish --universal --generate-hashes --python-version 3.11 \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements-publish.lock

clean: ## Remove everything that was built, including .venv
	rm -rf .venv build dist target fuzz/target .pytest_cache .mypy_cache .ruff_cache .hypothesis rdfm/_core*.so
