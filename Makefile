# How is ferrox built, tested and tried? One goal each; every goal sets up what it needs first.
PRESET ?= release
BUILD := build/$(PRESET)
FERROX := $(BUILD)/ferrox
CMAKE_FLAGS ?=
FUZZ_SECONDS ?= 30
MINUTES ?= 30
LOAD_MODEL ?= build/load-135m-q8_0.gguf

.PHONY: all build build-all configure demo docs test test-peers fault-matrix mixed-load bench bench-kernels bench-peers bench-fidelity lint fuzz format clean

all: build

build: configure  ## the program alone
	cmake --build --preset $(PRESET) --target ferrox

build-all: configure  ## tests and tools, too
	cmake --build --preset $(PRESET)

configure: setup-build
	@cmake --preset $(PRESET) $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log; exit 1; }

setup-%:
	@tools/setup.sh $*
	@mkdir -p build

demo: build  ## ask the bundled model a question
	$(FERROX) run "What is the capital of France?"

docs: build  ## writes docs/API.md from the tables of the server
	$(FERROX) openapi --markdown > docs/API.md

test: setup-test build-all  ## every test that needs no network
	@tools/run_tests.sh $(BUILD)

test-peers: setup-peers build  ## other implementations and real clients, from npm
	tests/peers/run.sh $(abspath $(FERROX))

build/load-135m-q8_0.gguf: | setup-load configure
	cmake --build --preset $(PRESET) --target make_model
	$(BUILD)/make_model 135m Q8_0 $@

fault-matrix: setup-load build $(LOAD_MODEL)  ## each fault in each state of a request, as a table
	python3 tests/load/fault_matrix.py $(FERROX) $(LOAD_MODEL)

mixed-load: setup-load build $(LOAD_MODEL)  ## many kinds of requests and faults at once for MINUTES, every answer compared
	python3 tests/load/mixed_load.py --minutes $(MINUTES) $(FERROX) $(LOAD_MODEL)

bench: build  ## speed of prompt and generation, as tables
	$(FERROX) bench

bench-kernels: setup-bench configure  ## micro-benchmarks of the products, as shares of one core's peak
	cmake --build --preset $(PRESET) --target kernels_bench
	$(BUILD)/kernels_bench

bench-peers: build  ## models of many shapes and formats, in turn with LLAMA_BENCH=path; writes the table of docs/PERFORMANCE.md
	$(if $(LLAMA_BENCH),,$(error bench-peers: expected LLAMA_BENCH=path/to/llama-bench, found none))
	cmake --build --preset $(PRESET) --target make_model
	bench/peers.py --build $(BUILD) --page docs/PERFORMANCE.md --fresh $(LLAMA_BENCH)

bench-fidelity: build  ## KL divergence of each format's arithmetic from float arithmetic, as a table
	cmake --build --preset $(PRESET) --target make_model float_model
	bench/fidelity.py --build $(BUILD)

lint: setup-lint build  ## format, layers, first lines, symbols
	tools/lint/run.sh
	@ctest --test-dir $(BUILD) -L lint --output-on-failure

format: setup-lint  ## rewrites the sources in the house's format
	git ls-files '*.cpp' '*.h' '*.inl' | xargs clang-format -i

fuzz: setup-fuzz  ## each fuzzer for FUZZ_SECONDS
	@cmake --preset fuzz > build/fuzz.configure.log 2>&1 || { cat build/fuzz.configure.log; exit 1; }
	cmake --build --preset fuzz
	tools/run_fuzzers.sh build/fuzz $(FUZZ_SECONDS)

clean:
	rm -rf build
