# make run    sets up, builds the whole product, and runs the quick tour of the lab: tables, a summary, a page for the browser
# make test   sets up, builds everything, runs all tests
# Both work with and without NVIDIA's toolkit. `run` leaves out the page if node or npm failed; skipped parts are listed.
# Other targets: accuracy (docs/accuracy.md from stored measurements), clients (docs/clients.md from the clients' own tests, an hour),
# build, install PREFIX=..., package (a Debian package and an archive for other Linux, in build/),
# wheel (a Python package with the archive inside), bench, bench-debugging, format, check, clean.
# BUILD=... selects another build folder; TEST_ARGS=... is passed to ctest.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
TEST_JOBS ?= $$(($(JOBS) + 1))
SOURCES = git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' '*.cc'

.PHONY: run tour test build setup install package deb archive wheel accuracy clients bench bench-debugging format check check-format clean

run: setup
	@scripts/build.sh $(BUILD) product
	@$(MAKE) --no-print-directory tour BUILD=$(BUILD)

# The tour of `make run`, for an existing build.
tour:
	@rm -f $(BUILD)/lab.html
	@if [ -s $(BUILD)/web/page.html ]; then report="--steps --report $(BUILD)/lab.html"; fi; \
	  $(BUILD)/bin/warpgrind lab all --brief --json $(BUILD)/lab.json $$report || exit; \
	  [ -n "$$report" ] || echo "left out: the page for the browser (node or npm is missing or had failed: see $(BUILD)/web)"

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j$(TEST_JOBS) --output-junit tests.xml $(TEST_ARGS)

build: setup
	@scripts/build.sh $(BUILD) all

setup:
	@scripts/setup.sh

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

# Always without nvcc: programs that it builds contain NVIDIA's runtime library, which we may not distribute.
package: deb archive

deb: setup
	@CMAKE_ARGS="-DWARPGRIND_NVCC=OFF $(CMAKE_ARGS)" scripts/build.sh $(BUILD)/package product
	@scripts/package_kernels.py $(BUILD)/package
	@cd $(BUILD) && cpack --config package/CPackConfig.cmake >package/cpack.log || { cat package/cpack.log; exit 1; }
	@rm -rf $(BUILD)/_CPack_Packages; ls $(BUILD)/warpgrind_*.deb

# ccache has the objects of `deb`.
archive: export CCACHE_BASEDIR = $(CURDIR)
archive:
	@PACKAGE=1 scripts/setup.sh
	@CMAKE_ARGS="-DWARPGRIND_NVCC=OFF -DWARPGRIND_PORTABLE=ON $(CMAKE_ARGS)" scripts/build.sh $(BUILD)/portable product warpgrind_newer_glibc
	@scripts/package_kernels.py $(BUILD)/portable
	@python3 scripts/portable.py $(BUILD)/portable $(BUILD) $(PACKED)

wheel: PACKED = --archive-only
wheel: archive
	@python3 scripts/wheel.py $$(ls -t $(BUILD)/warpgrind-*-linux-x86_64.tar.xz | head -n 1) $(BUILD)

accuracy: setup
	@scripts/build.sh $(BUILD) warpgrind-accuracy
	@$(BUILD)/bin/warpgrind-accuracy lab/results/h200/lab-full.json lab/results/h200/launches.csv \
	  --beside lab/results/h200/asynchronous.json lab/results/h200/asynchronous_launches.csv \
	  --beside lab/results/h200/hgemm.json lab/results/h200/hgemm_launches.csv \
	  --json $(BUILD)/accuracy.json --table lab/results/h200/accuracy.csv --intervals src/analysis/timing/intervals.inc \
	  --programs lab/results/h200/programs.csv
	@python3 scripts/accuracy.py $(BUILD)/accuracy.json docs/accuracy.md
	@$(BUILD)/bin/warpgrind-accuracy lab/results/h100/lab-full.json lab/results/h100/launches.csv --gpu h100 --elsewhere \
	  --json $(BUILD)/accuracy-h100.json --table lab/results/h100/accuracy.csv
	@python3 scripts/accuracy.py $(BUILD)/accuracy-h100.json docs/accuracy-h100.md

clients: build
	@python3 scripts/clients.py --build $(BUILD)

bench: build
	@python3 bench/bench.py --build $(BUILD) $(BENCH_ARGS)

bench-debugging: build
	@python3 bench/debugging.py --build $(BUILD) --check

format:
	@$(SOURCES) | xargs $$(scripts/clang_format.sh) -i

check: check-format
	@python3 scripts/check_layers.py

check-format:
	@$(SOURCES) | xargs $$(scripts/clang_format.sh) --dry-run -Werror

clean:
	@rm -rf $(BUILD)
