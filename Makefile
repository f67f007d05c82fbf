# The only commands a newcomer needs. Each sets up what it needs, by package name, once.

# One target folder for every clone, so that a second clone builds in seconds.
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

## The same with a month of made-up conversations to look at, in ./demo-data.
.PHONY: demo
demo: compiler
	cargo run --release --locked -- serve --demo --data demo-data

## Puts the program `uptake` where cargo puts programs (~/.cargo/bin).
.PHONY: install
install: compiler
	cargo install --path . --locked

## Takes the pictures of the README again, in docs/images.
.PHONY: screenshots
screenshots: compiler
	cargo build --release --locked
	scripts/screenshots $(CARGO_TARGET_DIR)/release/uptake

## Runs every test.
test: compiler
	@scripts/need sqlite3:sqlite3 prlimit:util-linux make:make g++:g++ openssl:openssl chromium:chromium curl:curl
	-@scripts/servers install
	scripts/run-tests --features scaled

## Runs the tests of the whole program once more with every server on Postgres; those that always run on
## such servers are in `make test` already.
.PHONY: test-scaled
test-scaled: compiler
	@scripts/need sqlite3:sqlite3 prlimit:util-linux make:make g++:g++ chromium:chromium
	-@scripts/servers install
	UPTAKE_TEST_ENGINE=scaled scripts/run-tests --features scaled --test it -- \
		--skip nodes:: --skip kafka:: --skip history:: --skip s3:: --skip migrate_store:: --skip demo:: --skip layers:: \
		--skip docs:: --skip programs::

## Runs what the pages in docs, README.md and the programs in examples say, and compares the answers.
.PHONY: test-docs
test-docs: compiler
	@scripts/need curl:curl python3:python3 make:make g++:g++
	cargo test --locked --features scaled --test it -- docs:: programs::

## Gets the servers that tests start: PostgreSQL, Redis, Kafka, an S3 server. Once; says what it could not get.
.PHONY: servers
servers:
	@scripts/servers install

## Format, lints, docs, licences, bans, spelling.
check: compiler $(TOOLS)/bin/cargo-deny-$(DENY_VERSION) $(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	cargo clippy -p uptake --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked
	$(TOOLS)/bin/cargo-deny-$(DENY_VERSION) --all-features --locked check bans licenses sources
	$(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos

## Measures the release binary; bench/README.md says what. `make bench SECTION=reads` for a part.
bench: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake -p uptake-bench $(if $(FEATURES),--features uptake/$(FEATURES))
	$(CARGO_TARGET_DIR)/release/uptake-bench $(CARGO_TARGET_DIR)/release/uptake $(SECTION)

## Mixed load at 70% of the limit for ten minutes while the server is killed, its disk is full and its clock jumps:
## nothing lost, nothing doubled, memory flat. SECS=120 for less, RATE=500 for a rate instead of the limit.
.PHONY: soak
soak: compiler
	@scripts/need prlimit:util-linux
	cargo build --release --locked -p uptake -p uptake-bench
	$(CARGO_TARGET_DIR)/release/soak $(CARGO_TARGET_DIR)/release/uptake $(or $(SECS),600) $(RATE)

## Measures the history of questions in this process and in a Redis on loopback. Half a minute.
.PHONY: bench-history
bench-history: compiler
	@scripts/need redis-server:redis-server
	cargo run --release --locked -q -p uptake-bench --features scaled --bin bench-history
## Measures publishing to Kafka, on SQLite and on Postgres, with servers of its own (`make servers`).
.PHONY: bench-kafka
bench-kafka: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake -p uptake-bench --features uptake/scaled
	$(CARGO_TARGET_DIR)/release/uptake-bench $(CARGO_TARGET_DIR)/release/uptake kafka

## Measures Uptake beside Phoenix and MLflow, which are installed for it (bench/peers/README.md). Half an hour.
.PHONY: bench-peers
bench-peers: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake
	python3 bench/peers/measure.py $(CARGO_TARGET_DIR)/release/uptake \
		$$(scripts/python-with peer-phoenix arize-phoenix==20.26.1) $$(scripts/python-with peer-mlflow mlflow==3.17.2)

## Measures the similarity index on the corpus; bench/README.md says what. A minute.
.PHONY: bench-vectors
bench-vectors: compiler
	cargo run --release --locked -q -p uptake-bench --bin bench-vectors -- training/corpus $(SIZES)

## A minute of mangled rows and logs through the detectors: nothing may panic. SECS=600 for longer.
.PHONY: fuzz-detect
fuzz-detect: compiler
	cargo run --release --locked -q -p uptake-bench-detect --bin fuzz-detect -- training/corpus $(or $(SECS),60)

## What `make test` does with a few thousand mangled inputs, with very many: every parser (events, chat logs, cursors, ids of
## decisions, rows to score, bodies of requests) takes or refuses whatever comes. CASES=1000000 for more.
.PHONY: fuzz-parsers
fuzz-parsers: compiler
	FUZZ_CASES=$(or $(CASES),100000) cargo test --release --locked -q -p uptake-ingest -p uptake-report -p uptake-api -p uptake-engine -- any_

## Ten minutes of made-up histories, written to SQLite and to Postgres in groups by chance: both come to the same.
## SECS=60 for fewer; `UPTAKE_FUZZ_SEED=N` tells one again.
.PHONY: fuzz-store
fuzz-store: compiler
	-@scripts/servers install
	UPTAKE_FUZZ_SEED=$$(date +%s)000 UPTAKE_FUZZ_SECS=$(or $(SECS),600) cargo test --locked -p uptake-store --features scaled --lib \
		tests::fuzz -- --nocapture

## Measures the detectors on public data; UPTAKE_DATA names its folder.
.PHONY: bench-detect
bench-detect: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data (bench/detect/README.md); it is not part of the project"; exit 1; }
	cargo build --release --locked -p uptake -p uptake-bench-detect
	$(CARGO_TARGET_DIR)/release/uptake-bench-detect $(CARGO_TARGET_DIR)/release/uptake training/corpus $(UPTAKE_DATA)

## Measures routing and off-policy evaluation on public data, then Python peers on the same; UPTAKE_DATA names
## its folder. SEEDS=60 for more than 30 runs each.
.PHONY: bench-routing
bench-routing: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data (bench/routing/README.md); it is not part of the project"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-routing -- $(UPTAKE_DATA) $(SEEDS)
	@scripts/routing-peers $(TOOLS) $(UPTAKE_DATA) $(SEEDS)

## Measures relevance feedback on public data; UPTAKE_DATA names its folder. SEEDS=20 for more.
.PHONY: bench-relevance
bench-relevance: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data (bench/relevance/README.md); it is not part of the project"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-relevance -- $(UPTAKE_DATA) $(SEEDS)

## Measures experiments, failure patterns, examples and preference data; UPTAKE_DATA names the folder
## of public data. SECTION=experiments|experiments_stored|failures|examples|preferences|stored for one of them.
.PHONY: bench-learning
bench-learning: compiler
	@test -n "$(UPTAKE_DATA)" || { echo "set UPTAKE_DATA to the folder of public data (bench/learning/README.md); it is not part of the project"; exit 1; }
	cargo run --release --locked -q -p uptake-bench-learning -- $(UPTAKE_DATA) $(SECTION)

## Fits the small models again from training/corpus; UPTAKE_DATA adds XSTest's completions.
## Later models read earlier ones, so each is built in before the next is fitted.
.PHONY: models
models: compiler
	for task in pair refusal verdict; do \
		cargo run --release --locked -q -p uptake-fit -- $$task training/corpus crates/detect/model $(UPTAKE_DATA) || exit 1; \
	done

## Thousands of made-up requests by our own OpenAPI document: no 5xx, no undocumented status.
fuzz-api: compiler $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis
	@scripts/need curl:curl
	cargo build --release --locked
	scripts/fuzz-api $(CARGO_TARGET_DIR)/release/uptake $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis

## How much of detect, learn and store their own tests reach; the places that none reaches are listed in
## coverage.txt of the target folder.
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
	@command -v cargo >/dev/null || { echo "Rust is missing: see CONTRIBUTING.md"; exit 1; }

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
