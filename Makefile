# Entry points for building, testing and measuring. Each target installs missing packages by itself.

# Clones share one target folder, so that a second clone builds in seconds.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/uptake
export CARGO_TARGET_DIR ?= $(CACHE)/target
TOOLS := $(CACHE)/tools
DENY_VERSION := 0.20.2
TYPOS_VERSION := 1.51.1
SCHEMATHESIS_VERSION := 4.32.5
LLVM_COV_VERSION := 0.9.1
LLVM_COV = $(TOOLS)/bin/cargo-llvm-cov-$(LLVM_COV_VERSION) llvm-cov

.PHONY: run test check bench fuzz-api

## Builds the release binary and serves on http://127.0.0.1:8787 with its data in ./data.
run: compiler
	cargo run --release --locked -- serve

## Serves with a month of generated demo conversations, in ./demo-data.
.PHONY: demo
demo: compiler
	cargo run --release --locked -- serve --demo --data demo-data

## Installs the program `uptake` into ~/.cargo/bin.
.PHONY: install
install: compiler
	cargo install --path . --locked

## Regenerates the README's screenshots in docs/images.
.PHONY: screenshots
screenshots: compiler
	cargo build --release --locked
	scripts/screenshots $(CARGO_TARGET_DIR)/release/uptake

## Runs all tests with default features but `make test-integrations`: on SQLite, in one process.
test: compiler
	@scripts/need sqlite3:sqlite3 prlimit:util-linux make:make g++:g++ openssl:openssl chromium:chromium curl:curl python3:python3
	scripts/run-tests --workspace -- --skip integrations::

# Tests that start Postgres, Redis, Kafka or S3 themselves.
SERVER_TESTS = nodes:: kafka:: history:: s3:: migrate_store:: backup::postgres

## Runs the tests that need the feature `scaled`, on real servers: the store on Postgres, clusters, Kafka, Redis
## and S3, and the integration tests of `make test` again with every server on Postgres.
.PHONY: test-scaled
# One thread more than cores: these tests wait for their servers half of the time.
test-scaled: export RUST_TEST_THREADS ?= $(shell expr $$(nproc) + 1)
test-scaled: compiler
	@scripts/need sqlite3:sqlite3 prlimit:util-linux make:make g++:g++ chromium:chromium python3:python3
	-@scripts/servers install
	scripts/run-tests --features scaled -p uptake-store -p uptake-sql -p uptake-connectors -p uptake --lib
	scripts/run-tests --features scaled -p uptake-store -p uptake-sql -p uptake-connectors -p uptake --test it -- $(SERVER_TESTS)
	UPTAKE_TEST_ENGINE=scaled scripts/run-tests --features scaled \
		-p uptake-store -p uptake-sql -p uptake-connectors -p uptake --test it -- \
		$(addprefix --skip ,$(SERVER_TESTS)) --skip integrations:: --skip demo:: --skip layers:: --skip docs:: --skip example_programs::

## Runs the code blocks of README.md and docs and the programs in examples, and compares their output.
.PHONY: test-docs
test-docs: compiler
	@scripts/need curl:curl python3:python3 make:make g++:g++
	cargo test --locked --features scaled --test it -- docs:: example_programs::

## Runs clients of other systems, unchanged, against a server. Each group of packages is installed once, by name.
.PHONY: test-integrations
test-integrations: compiler
	@scripts/need python3:python3
	scripts/run-tests --features scaled -p uptake --test it -- integrations::

## Installs the servers that tests start: PostgreSQL, Redis, Kafka, an S3 server. Reports missing ones.
.PHONY: servers
servers:
	@scripts/servers install

## Format, lints, docs, prose, licences, bans, known vulnerabilities, spelling.
check: compiler $(TOOLS)/bin/cargo-deny-$(DENY_VERSION) $(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	cargo clippy -p uptake --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked
	$(TOOLS)/bin/cargo-deny-$(DENY_VERSION) --all-features --locked check bans licenses sources
	@if $(TOOLS)/bin/cargo-deny-$(DENY_VERSION) --all-features fetch db >/dev/null 2>&1; then \
		$(TOOLS)/bin/cargo-deny-$(DENY_VERSION) --all-features --locked check advisories; \
	else echo "advisories: not checked, because the database of known vulnerabilities cannot be fetched"; fi
	$(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos
	scripts/lint-prose
	sha256sum --check --quiet training/models.sha256

## Benchmarks the release binary (bench/README.md). `make bench SECTION=reads` runs one section.
bench: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake -p uptake-bench $(if $(FEATURES),--features uptake/$(FEATURES))
	$(CARGO_TARGET_DIR)/release/uptake-bench $(CARGO_TARGET_DIR)/release/uptake $(SECTION)

## Soak test: ten minutes of mixed load at 70% of the limit with kills, a full disk and clock jumps. Checks that
## nothing is lost or duplicated and memory stays flat. SECS=120 shortens it, RATE=500 sets a fixed rate.
.PHONY: soak
soak: compiler
	@scripts/need prlimit:util-linux
	cargo build --release --locked -p uptake -p uptake-bench
	$(CARGO_TARGET_DIR)/release/soak $(CARGO_TARGET_DIR)/release/uptake $(or $(SECS),600) $(RATE)

## Benchmarks retry history in memory and in Redis on loopback. Half a minute.
.PHONY: bench-history
bench-history: compiler
	@scripts/need redis-server:redis-server
	cargo run --release --locked -q -p uptake-bench --features scaled --bin bench-history

## Benchmarks publishing to Kafka, on SQLite and on Postgres (needs `make servers`).
.PHONY: bench-kafka
bench-kafka: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake -p uptake-bench --features uptake/scaled
	$(CARGO_TARGET_DIR)/release/uptake-bench $(CARGO_TARGET_DIR)/release/uptake kafka

## Compares Uptake with Phoenix and MLflow, which are installed for it (bench/peers/README.md). Half an hour.
.PHONY: bench-peers
bench-peers: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake
	python3 bench/peers/measure.py $(CARGO_TARGET_DIR)/release/uptake \
		$$(scripts/python-with peer-phoenix arize-phoenix==20.26.1) $$(scripts/python-with peer-mlflow mlflow==3.17.2)

## Benchmarks the similarity index on the corpus (bench/README.md). One minute.
.PHONY: bench-vectors
bench-vectors: compiler
	cargo run --release --locked -q -p uptake-bench --bin bench-vectors -- training/corpus $(SIZES)

## Fuzzes the detectors with mangled rows and logs for one minute; SECS=600 for longer.
.PHONY: fuzz-detect
fuzz-detect: compiler
	cargo run --release --locked -q -p uptake-bench-detect --bin fuzz-detect -- training/corpus $(or $(SECS),60)

## Fuzzes every parser (events, chat logs, cursors, decision ids, rows to score, request bodies) with more inputs
## than `make test`: each must be accepted or refused without a panic. CASES=1000000 for more.
.PHONY: fuzz-parsers
fuzz-parsers: compiler
	FUZZ_CASES=$(or $(CASES),100000) cargo test --release --locked -q -p uptake-ingest -p uptake-api -p uptake-engine -- mangled arbitrary fuzz_tests

## Fuzzes the store for ten minutes: random histories in random commit groups must give the same projections on
## SQLite and Postgres. SECS=60 shortens it; `UPTAKE_FUZZ_SEED=N` repeats a history.
.PHONY: fuzz-store
fuzz-store: compiler
	-@scripts/servers install
	UPTAKE_FUZZ_SEED=$$(date +%s)000 UPTAKE_FUZZ_SECS=$(or $(SECS),600) cargo test --locked -p uptake-store --features scaled --lib \
		tests::fuzz -- --nocapture

## Benchmarks the detectors on public data; UPTAKE_DATA names its folder.
.PHONY: bench-detect
bench-detect: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/detect/README.md)"; exit 1; }
	cargo build --release --locked -p uptake -p uptake-bench-detect
	$(CARGO_TARGET_DIR)/release/uptake-bench-detect $(CARGO_TARGET_DIR)/release/uptake training/corpus $(UPTAKE_DATA) $(SECTION)

## Measures redaction on labelled strings: precision and recall by kind and country, and its cost. A minute.
.PHONY: bench-redaction
bench-redaction: compiler
	cargo run --release --locked -q -p uptake-bench-redaction -- $(or $(ROWS),bench/redaction/rows.jsonl) training/corpus

## Benchmarks routing and off-policy evaluation on public data, then Python libraries on the same data.
## UPTAKE_DATA names its folder. SEEDS=60 for more than 30 runs each.
.PHONY: bench-routing
bench-routing: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/routing/README.md)"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-routing -- $(UPTAKE_DATA) $(SEEDS)
	@scripts/routing-peers $(TOOLS) $(UPTAKE_DATA) $(SEEDS)

## Benchmarks relevance feedback on public data; UPTAKE_DATA names its folder. SEEDS=20 for more runs.
.PHONY: bench-relevance
bench-relevance: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/relevance/README.md)"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-relevance -- $(UPTAKE_DATA) $(SEEDS)

## Benchmarks experiments, failure patterns, examples and preference data; UPTAKE_DATA names the folder of public
## data. SECTION=experiments|experiments_stored|failures|examples|preferences|stored runs one section.
.PHONY: bench-learning
bench-learning: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/learning/README.md)"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-learning -- $(UPTAKE_DATA) $(SECTION)

## Retrains the detector models from training/corpus; UPTAKE_DATA adds XSTest's completions.
## Later models use earlier ones, so the program is rebuilt before each.
.PHONY: models
models: compiler
	for task in learnt-pair pair refusal verdict; do \
		cargo run --release --locked -q -p uptake-fit -- $$task training/corpus crates/detect/model $(UPTAKE_DATA) || exit 1; \
	done
	sha256sum crates/*/model/* > training/models.sha256

## Retrains the verdict models and the reader, on a machine with a GPU and PyTorch. WEIGHTS names the folder of the
## pretrained weights (training/README.md).
.PHONY: reader-model
reader-model: compiler
	scripts/train-reader $(WEIGHTS) $(UPTAKE_DATA)

## Fuzzes the API with thousands of requests generated from the OpenAPI document: no 5xx, no undocumented status.
fuzz-api: compiler $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis
	@scripts/need curl:curl
	cargo build --release --locked
	scripts/fuzz-api $(CARGO_TARGET_DIR)/release/uptake $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis

## Test coverage of detect, learn and store. Uncovered lines are listed in coverage.txt of the target folder.
.PHONY: coverage
coverage: compiler $(TOOLS)/bin/cargo-llvm-cov-$(LLVM_COV_VERSION)
	-@scripts/servers install
	rustup component add llvm-tools
	$(LLVM_COV) clean --workspace
	$(LLVM_COV) --no-report --locked -p uptake-detect -p uptake-learn -p uptake-store -p uptake-sql -p uptake-vector-index -p uptake-connectors --features uptake-store/scaled,uptake-connectors/scaled
	$(LLVM_COV) report --json -p uptake-detect -p uptake-learn -p uptake-store -p uptake-sql -p uptake-vector-index -p uptake-connectors --output-path $(CARGO_TARGET_DIR)/coverage.json
	scripts/coverage $(CARGO_TARGET_DIR)/coverage.json $(CARGO_TARGET_DIR)/coverage.txt

.PHONY: compiler
compiler:
	@scripts/need cc:build-essential
	@command -v cargo >/dev/null || { echo "cargo is not installed: see CONTRIBUTING.md"; exit 1; }

$(TOOLS)/bin/cargo-deny-$(DENY_VERSION):
	cargo install cargo-deny --version $(DENY_VERSION) --locked --root $(TOOLS) --target-dir $(CACHE)/tools-target
	mv $(TOOLS)/bin/cargo-deny $@
	rm -rf $(CACHE)/tools-target

$(TOOLS)/bin/cargo-llvm-cov-$(LLVM_COV_VERSION):
	cargo install cargo-llvm-cov --version $(LLVM_COV_VERSION) --locked --root $(TOOLS) --target-dir $(CACHE)/tools-target
	mv $(TOOLS)/bin/cargo-llvm-cov $@
	rm -rf $(CACHE)/tools-target

$(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos:
	@scripts/need python3:python3 python3-venv
	python3 -m venv $(TOOLS)/typos-$(TYPOS_VERSION)
	$(TOOLS)/typos-$(TYPOS_VERSION)/bin/pip install --quiet typos==$(TYPOS_VERSION)

$(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis:
	@scripts/need python3:python3 python3-venv
	python3 -m venv $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)
	$(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/pip install --quiet schemathesis==$(SCHEMATHESIS_VERSION)
