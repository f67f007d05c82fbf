# The only commands a newcomer needs. Each sets up what it needs, by package name, once.

# One target folder for every clone, so that a second clone builds in seconds.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/uptake
export CARGO_TARGET_DIR ?= $(CACHE)/target
TOOLS := $(CACHE)/tools
DENY_VERSION := 0.20.2
TYPOS_VERSION := 1.51.1
SCHEMATHESIS_VERSION := 4.32.5

.PHONY: run test check bench fuzz-api

## Builds the release binary and serves on http://127.0.0.1:8787 with its data in ./data.
run: compiler
	cargo run --release --locked -- serve

## Runs every test.
test: compiler
	@scripts/need sqlite3:sqlite3 prlimit:util-linux make:make g++:g++
	-@scripts/servers install
	scripts/run-tests --features scaled

## Gets the servers that tests start: PostgreSQL, Redis, Kafka, an S3 server. Once; says what it could not get.
.PHONY: servers
servers:
	@scripts/servers install

## Format, lints, docs, licences, bans, spelling.
check: compiler $(TOOLS)/bin/cargo-deny-$(DENY_VERSION) $(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked
	$(TOOLS)/bin/cargo-deny-$(DENY_VERSION) --all-features --locked check bans licenses sources
	$(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos

## Measures the release binary; bench/README.md says what. `make bench SECTION=reads` for a part.
bench: compiler
	@scripts/need wrk:wrk
	cargo build --release --locked -p uptake -p uptake-bench $(if $(FEATURES),--features uptake/$(FEATURES))
	$(CARGO_TARGET_DIR)/release/uptake-bench $(CARGO_TARGET_DIR)/release/uptake $(SECTION)

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

## Measures the similarity index on the corpus; bench/README.md says what. A minute.
.PHONY: bench-vectors
bench-vectors: compiler
	cargo run --release --locked -q -p uptake-bench --bin bench-vectors -- training/corpus $(SIZES)

## A minute of mangled rows and logs through the detectors: nothing may panic. SECS=600 for longer.
.PHONY: fuzz-detect
fuzz-detect: compiler
	cargo run --release --locked -q -p uptake-bench-detect --bin fuzz-detect -- training/corpus $(or $(SECS),60)

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
## of public data. SECTION=experiments|failures|suggestions|examples|preferences for one of them.
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

.PHONY: compiler
compiler:
	@scripts/need cc:build-essential
	@command -v cargo >/dev/null || { echo "Rust is missing: see CONTRIBUTING.md"; exit 1; }

$(TOOLS)/bin/cargo-deny-$(DENY_VERSION):
	cargo install cargo-deny --version $(DENY_VERSION) --locked --root $(TOOLS) --target-dir $(CACHE)/tools-target
	mv $(TOOLS)/bin/cargo-deny $@
	rm -rf $(CACHE)/tools-target

$(TOOLS)/typos-$(TYPOS_VERSION)/bin/typos:
	@scripts/need python3:python3 python3-venv
	python3 -m venv $(TOOLS)/typos-$(TYPOS_VERSION)
	$(TOOLS)/typos-$(TYPOS_VERSION)/bin/pip install --quiet typos==$(TYPOS_VERSION)

$(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/schemathesis:
	@scripts/need python3:python3 python3-venv
	python3 -m venv $(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)
	$(TOOLS)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/pip install --quiet schemathesis==$(SCHEMATHESIS_VERSION)
