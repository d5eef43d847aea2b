# make run    set-up, build, the quick tour of the lab on the virtual GPU
# make test   set-up, build, all tests
# The rest: install PREFIX=..., bench, format, check, clean. BUILD=... selects another build folder.
BUILD ?= build
PREFIX ?= /usr/local
SOURCES = git ls-files '*.cpp' '*.h' '*.cu' '*.cc'

.PHONY: run test build setup install bench format check clean

run: build
	@$(BUILD)/bin/warpgrind lab all --json $(BUILD)/lab.json --report $(BUILD)/lab.html

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j2

build: setup
	@test -f $(BUILD)/build.ninja || cmake -G Ninja -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release
	@ninja -C $(BUILD)

setup:
	@scripts/setup.sh

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

bench: build
	@python3 bench/bench.py --build $(BUILD) $(BENCH_ARGS)

format:
	@$(SOURCES) | xargs $$(scripts/clang_format.sh) -i

check:
	@python3 scripts/check_layers.py
	@$(SOURCES) | xargs $$(scripts/clang_format.sh) --dry-run -Werror

clean:
	@rm -rf $(BUILD)
