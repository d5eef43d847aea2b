#!/usr/bin/env python3
"""Coverage tool for tests/run/covered.txt: the whole runs that execute only code which other tests execute too.

  covered_tests.py run BUILD OUT [REGEX...]                 runs the tests with matching names, and stores their coverage in OUT
  covered_tests.py choose BUILD TESTS.xml OUT... >tests/run/covered.txt   chooses the tests from such folders

TESTS.xml was written by `make test` in a build with the toolkit hidden: CI runs the listed tests there and nowhere else, so only tests
that passed there are listed.

BUILD is a build for AddressSanitizer with coverage of edges:

  cmake --preset asan-ubsan -DCMAKE_CXX_FLAGS=-fsanitize-coverage=edge,trace-pc-guard -DWARPGRIND_PROGRAMS=build

An edge counts as its place in the source (function, line, column), so the same code in two programs is the same. All tests but whole
runs (run.*) are kept. Whole runs are then added, the one with most new places a second first, until none adds a place. A test that
failed is never listed.
"""
import argparse
import array
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as tree

SYMBOLIZER = "llvm-symbolizer-19"


def sanitizer_environment(build):
    """Environment that ctest sets for every test of such a build (tests/CMakeLists.txt)."""
    lines = (build / "tests/sanitizer.cmake").read_text()
    return {**os.environ, **dict(re.findall(r"set\(ENV\{(\w+)\} (.*)\)", lines))}


def run(build, out, names):
    environment = sanitizer_environment(build)
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], env=environment, capture_output=True, check=True)

    def one(test):
        properties = {p["name"]: p["value"] for p in test["properties"]}
        folder = out / test["name"]
        if properties.get("DISABLED") or (folder / "seconds").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        own = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        own["ASAN_OPTIONS"] = f"{environment['ASAN_OPTIONS']}:coverage=1:coverage_dir={folder}:log_path={folder}/log"
        begin = time.monotonic()
        ended = subprocess.run(["timeout", "900", "setarch", "-R", *test["command"]], cwd=properties["WORKING_DIRECTORY"], env={**environment, **own},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (folder / "seconds").write_text(f"{time.monotonic() - begin:.2f} {ended.returncode}\n")

    tests = [t for t in json.loads(listed.stdout)["tests"] if "command" in t and any(re.search(n, t["name"]) for n in names or [""])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, tests))


def edges(file):
    data = array.array("Q", file.read_bytes())
    return data[1:] if len(data) > 1 else []


def places(build, module, addresses):
    """{address: number of its place}; equal places of several modules have one number."""
    asked = "\n".join(hex(a) for a in addresses)
    path = next((p for folder in ("bin", "lib", "lib/nvcc") for p in [build / folder / module] if p.exists()), None)
    if path is None:
        return {}
    answer = subprocess.run([SYMBOLIZER, f"--obj={path}", "--output-style=JSON", "--no-inlines"], input=asked, text=True,
                            capture_output=True, check=True).stdout
    result = {}
    for address, line in zip(addresses, answer.splitlines()):
        symbol = (json.loads(line).get("Symbol") or [{}])[0]
        if "/src/" in symbol.get("FileName", ""):
            result[address] = (symbol["FileName"], symbol["FunctionName"], symbol["Line"], symbol["Column"])
    return result


def without_compiler(name):
    return re.sub(r"\.(nvcc|clang)$", "", name)


def choose(build, results, folders):
    seen = collections.defaultdict(set)  # module: addresses
    tests = {}  # name: (seconds, [(module, addresses)])
    failed = set()  # may have ended before they executed everything
    for out in folders:
        for mark in sorted(out.glob("*/seconds")):
            files = [(f.name.rsplit(".", 2)[0], edges(f)) for f in mark.parent.glob("*.sancov")]
            for module, addresses in files:
                seen[module].update(addresses)
            seconds, exit_code = mark.read_text().split()
            tests[mark.parent.name] = (float(seconds), files)
            if exit_code != "0":
                failed.add(mark.parent.name)
    numbers, of_module = {}, {}
    for module, addresses in seen.items():
        found = places(build, module, sorted(addresses))
        of_module[module] = {a: numbers.setdefault(place, len(numbers)) for a, place in found.items()}
    executed = {name: {of_module[m][a] for m, addresses in files for a in addresses if a in of_module[m]}
                for name, (_, files) in tests.items()}
    kept = set().union(*(e for name, e in executed.items() if not name.startswith("run.")))
    rest = {name: e for name, e in executed.items() if name.startswith("run.")}
    alone = len(kept)
    chosen = []
    while True:
        rest = {name: new for name, e in rest.items() if (new := e - kept)}
        if not rest:
            break
        best = max(rest, key=lambda name: len(rest[name]) / (tests[name][0] + 0.5))
        chosen.append((best, len(rest[best])))
        kept |= rest.pop(best)
    names = {name for name, _ in chosen}
    covered = sorted(name for name in executed if name.startswith("run.") and name not in names | failed)
    spared = sum(tests[name][0] for name in covered)
    print(f"{len(numbers)} places, {alone} by other tests than whole runs; {len(chosen)} of {len(chosen) + len(covered)} whole runs add "
          f"{len(kept) - alone}; the others take {spared:.0f} of {sum(t for n, (t, _) in tests.items() if n.startswith('run.')):.0f} s",
          file=sys.stderr)
    for name, new in chosen:
        print(f"{new:6} {tests[name][0]:6.1f} s  {name}", file=sys.stderr)
    elsewhere = {without_compiler(case.get("name")) for case in tree.parse(results).getroot().findall("testcase") if case.get("status") == "run"}
    print("\n".join(name for name in map(without_compiler, covered) if name in elsewhere))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "choose"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("rest", nargs="+")
    given = parser.parse_args()
    if given.what == "run":
        run(given.build.resolve(), pathlib.Path(given.rest[0]).resolve(), given.rest[1:])
    else:
        choose(given.build.resolve(), given.rest[0], [pathlib.Path(folder) for folder in given.rest[1:]])


if __name__ == "__main__":
    main()
