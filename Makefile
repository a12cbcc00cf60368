# Headrace: build, demo, tests. `make help` lists the targets.
SHELL := /bin/bash
VENV ?= $(if $(HEADRACE_VENV),$(HEADRACE_VENV),$(HOME)/.cache/headrace/venv)
PYTHON := $(VENV)/bin/python
JOBS ?= $(shell nproc)
# Files of Python tests that run at once; the programs that they start use several cores themselves.
WORKERS ?= 2
export HEADRACE_VENV := $(VENV)
export HEADRACE_SYSROOT_AARCH64 ?= $(HOME)/.cache/headrace/sysroot-aarch64
CODE := '*.cpp' '*.hpp' '*.cu' '*.cuh'

# What the sanitizer builds run: everything that has threads, parses files or handles memory, without LibTorch.
SANITIZED := core cli pixels ranks storage zarr imaging volume cohort transform ingest ingest_volumes process loader config

# What runs on aarch64 under an emulator: lanes, instruction sets, kernels, codecs.
EMULATED := math device zarr transform process_kernels

# `make check BASE=REV`: the tests that what differs from REV can reach; empty: from where this branch left main.
BASE ?=
PYTEST = HEADRACE=$(CURDIR)/build/headrace $(PYTHON) -m pytest -q -p no:cacheprovider -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: all build deps demo wheel check test test-all test-cpp test-python test-aarch64 bench asan tsan tsan-python format style lint reference help clean
all: build

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9 -]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build:  ## the program, build/headrace, and the Python package, build/python (installs what is missing first)
	@tools/deps/install.sh
	@cmake --preset release -DHR_VENV=$(VENV) --log-level=WARNING >/dev/null
	@cmake --build build --parallel $(JOBS) --target headrace --target headrace_python
	@echo "built: build/headrace, build/python"

demo: build  ## ingest, train, evaluate, report, predict and export on the samples and on phantoms, into demo-out/
	@tools/demo.sh

check: style  ## what a change can reach: its programs built, its tests run (BASE=REV: a change since REV), after `make style`
	@tools/deps/install.sh test
	@cmake --preset release -DHR_VENV=$(VENV) --log-level=WARNING >/dev/null
	@python3 -B tests/layering/affected.py $(BASE:%=--base %) --build build --out build/affected
	@xargs -r cmake --build build --parallel $(JOBS) --target <build/affected/targets
	@xargs -r python3 -B tests/layering/check_headers.py . build <build/affected/headers
	@if [ -s build/affected/ctest ]; then ctest --preset release --parallel $(JOBS) -R "$$(cat build/affected/ctest)"; fi
	@if [ -s build/affected/pytest ]; then $(PYTEST) $$(cat build/affected/pytest); fi

test: test-cpp test-python  ## every test of the release build, of long matrices some cases

test-all: export HEADRACE_TEST_ALL = 1
test-all: test  ## the same with every case of every matrix: nightly, and before a release

test-cpp:  ## C++ tests and the layer checks
	@tools/deps/install.sh test nvcc
	@cmake --preset release -DHR_VENV=$(VENV) --log-level=WARNING >/dev/null
	@cmake --build build --parallel $(JOBS)
	@ctest --preset release --parallel $(JOBS)

test-python: build  ## the program against independent readers, and its messages
	@tools/deps/install.sh test
	@cmake --build build --parallel $(JOBS) --target test_tools
	@$(PYTEST) tests

wheel:  ## the wheel of the Python package, into wheel-out/
	@tools/deps/install.sh
	@tools/wheel/build.sh $(PYTHON)
	@HEADRACE_WHEEL=$$(ls -t wheel-out/*.whl | head -1) $(PYTHON) -m pytest -q -p no:cacheprovider tests/python/test_wheel.py

test-aarch64: build  ## kernels, codecs and batches compiled for aarch64, under an emulator: the bytes of x86-64
	@tools/deps/install.sh test aarch64
	@cmake --preset aarch64 --log-level=WARNING >/dev/null
	@cmake --build build-aarch64 --parallel $(JOBS) --target iterate_batches $(EMULATED:%=test_%)
	@ctest --preset aarch64 --parallel $(JOBS) -R '^($(subst $() ,|,$(strip $(EMULATED))))$$'
	@HEADRACE=$(CURDIR)/build/headrace HEADRACE_AARCH64=build-aarch64 $(PYTHON) -m pytest -q -p no:cacheprovider -k aarch64 \
	 tests/cli/test_demo_configs.py

bench: build  ## our speed beside the peers', interleaved; results and a table in bench-out/
	@tools/deps/install.sh test bench
	@cmake --build build --parallel $(JOBS) --target all bench_volume_prepare bench_predict_path
	@$(PYTHON) bench/run.py --headrace build/headrace --out bench-out

asan tsan:  ## the core layers' tests under a sanitizer: `asan` (address, undefined) or `tsan` (threads)
	@tools/deps/install.sh
	@cmake --preset $@ -DHR_VENV=$(VENV) --log-level=WARNING >/dev/null
	@cmake --build build-$@ --parallel $(JOBS) --target $(SANITIZED:%=test_%)
	@ctest --preset $@ -R '^($(subst $() ,|,$(strip $(SANITIZED))))$$'

tsan-python:  ## threads that use the Python package, its C++ part built under ThreadSanitizer
	@tools/deps/install.sh
	@cmake --preset tsan -DHR_VENV=$(VENV) -DHR_WITH_PYTHON=ON -DHR_WITH_CUDA=OFF --log-level=WARNING >/dev/null
	@cmake --build build-tsan --parallel $(JOBS) --target headrace_python
	@timeout 900 env LD_PRELOAD=$$($(CXX) -print-file-name=libtsan.so) TSAN_OPTIONS="exitcode=1 history_size=7 suppressions=tests/python/tsan.supp" \
	 PYTHONPATH=build-tsan/python $(PYTHON) tests/python/sanitized_threads.py samples

format:  ## clang-format every C++ file
	@git ls-files $(CODE) | xargs clang-format -i

style:  ## layers, sizes, banned words, links, the docs' sentences; then clang-format and shellcheck where they are installed
	@python3 tests/layering/check_layers.py
	@python3 tests/layering/check_prose.py
	@if command -v clang-format >/dev/null; then git ls-files $(CODE) | xargs clang-format --dry-run -Werror; else echo "no clang-format"; fi
	@if command -v shellcheck >/dev/null; then git ls-files '*.sh' .ci/run tools/gpu-check | xargs shellcheck; else echo "no shellcheck"; fi

lint: style  ## the same, and clang-tidy where it is installed
	@if command -v clang-tidy >/dev/null; then git ls-files 'headrace/*.cpp' 'learn/*.cpp' 'cli/*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy -p build --quiet; \
	 else echo "no clang-tidy"; fi

reference:  ## the headers' reference as web pages, in reference-out/; fails on a warning (needs doxygen)
	@command -v doxygen >/dev/null || { echo "no doxygen: apt-get install doxygen"; exit 1; }
	@doxygen docs/Doxyfile

clean:  ## remove what was built, not what was installed
	@rm -rf build build-asan build-tsan build-debug build-aarch64
