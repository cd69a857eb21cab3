# Lateen. `make demo` and `make test` are all a newcomer needs.
export RUSTUP_AUTO_INSTALL ?= 0
CARGO ?= cargo
CASES ?= ../shared/conformance
KUBECTL_VERSION ?= 1.36.4
.PHONY: demo test lint fmt conformance bench bench-cue bench-plane bench-engine soak deaths faults fuzz differ commands audit build dist target kubectl

demo: build
	@target/release/lateen up --ephemeral --demo examples/shop

build: target
	@$(CARGO) build --release --locked -p lateen

# What is shipped: the whole program is optimised at once, for half an hour of one core.
dist: target
	$(CARGO) build --profile dist --locked -p lateen

test: build kubectl
	$(CARGO) test --release --locked --no-fail-fast

lint: target
	$(CARGO) fmt --all --check
	GUEST_SKIP=1 $(CARGO) clippy --locked --all-targets -- -D warnings

fmt:
	$(CARGO) fmt --all

conformance: target
	$(CARGO) build --release --locked -p lateen -p lateen-e2e
	target/release/lateen-e2e conformance --cases $(CASES) --scores e2e/scores.txt --open cue-runtime/DIVERGENCES.md $(ARGS)

bench: target
	$(CARGO) bench -p lateen-e2e --bench render
	$(CARGO) bench -p cue-session --bench official

# CUE beside the official implementation, which CUE_ORACLE asks (see e2e/benches/cue); ONLY names one part.
bench-cue: target
	CASES=$(abspath $(CASES)) $(CARGO) bench -p lateen-e2e --bench cue

# The embedded plane against the API server of $KUBECONFIG, if there is one on this machine.
bench-plane: build
	$(CARGO) bench -p lateen-e2e --bench plane

# The controller with SIZES Applications, on the embedded plane and on the API server of $KUBECONFIG.
bench-engine: build
	$(CARGO) bench -p lateen-e2e --bench engine

# Clients against a plane that is killed again and again, for SOAK_MINUTES.
soak: build
	$(CARGO) bench -p lateen-e2e --bench soak

# The recorded scenarios with a controller that dies again and again; ten minutes.
deaths: target
	$(CARGO) build --release --locked -p lateen -p lateen-e2e
	target/release/lateen-e2e conformance --cases $(CASES) --scores e2e/scores.txt --only deaths

# The recorded scenarios with a controller that hardly reaches its plane; ten minutes.
faults: target
	$(CARGO) build --release --locked -p lateen -p lateen-e2e
	target/release/lateen-e2e conformance --cases $(CASES) --scores e2e/scores.txt --only faults

fuzz: target
	FUZZ_ITERATIONS=100000 $(CARGO) test --release --locked fuzz

# PROGRAMS made by chance, from SEED on, asked of this interpreter and of the official one, which CUE_ORACLE asks.
differ: target
	$(CARGO) bench -p cue-eval --bench differ

# PROGRAMS command lines of `lateen cue` made by chance, from SEED on, beside the official command.
commands: target
	$(CARGO) build --release --locked -p lateen
	$(CARGO) bench --locked -p lateen-e2e --bench commands

audit:
	$(CARGO) deny --locked check bans licenses sources

# The wasm standard library: from rustup, or else from the distribution (reference: build.rs of cue-host).
target:
	@sh .ci/wasm-target

# A kubectl for the end-to-end tests; where none can be had they say so.
kubectl:
	@sh .ci/kubectl $(KUBECTL_VERSION)
