#!/usr/bin/env python3
"""Every function of include/warpgrind/driver_functions.inc that works is called by a test of this folder, the library exports
exactly the table, and names mean symbols of it.

  check_calls.py --library LIBCUDA

A function must be called where its success is expected, OK(name(...)) or a value that is compared, and, unless it is
listed below, where an error is expected, FAILS(error, name(...)): by its symbol, or by the documented name that means it
(include/warpgrind/driver_names.h). What all functions do with null arguments is in null_arguments.txt, and that unsupported ones
say so in unsupported_test.cpp.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include/warpgrind"
# They cannot fail, or have nothing to be wrong about.
NEVER_FAIL = "cuCtxGetStreamPriorityRange cuCtxResetPersistingL2Cache cuProfilerStart cuProfilerStop".split()
NEVER_WORK = ["cuGetExportTable"]  # what it gives is not documented


def rows():
    """(kind, name, symbol, version)"""
    pattern = re.compile(r"^(WG_DRIVER\w*)\((\w+), (\w+), (\d+)", re.M)
    return [(k, n, s, int(v)) for k, n, s, v in pattern.findall((INCLUDE / "driver_functions.inc").read_text())]


def meanings():
    """Symbols of the documented names: {name: symbol}"""
    text = (INCLUDE / "driver_names.h").read_text()
    found = re.findall(r"^#define (cu\w+) (?:__CUDA_API_PT[DS][SZ]\()?(\w+)\)?$", text, re.M)
    return {n: s for n, s in found if not s.endswith("_ptsz")}


def calls_of(path, means):
    """Symbols that a test calls: [(symbol, an error is expected)]. #undef takes a meaning away, as for the compiler."""
    means = dict(means)
    out = []
    text = re.sub(r"//.*", "", path.read_text())
    for token in re.finditer(r"^#undef (\w+)|^#define (\w+) (\w+)$|\b(FAILS\(\s*\w+,\s*)?\b(cu[A-Z]\w+)\(", text, re.M):
        undefined, defined, symbol, fails, name = token.groups()
        if undefined:
            means.pop(undefined, None)
        elif defined:
            means[defined] = symbol
        else:
            out.append((means.get(name, name), bool(fails)))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    table, means = rows(), meanings()
    calls = [call for p in sorted(HERE.glob("*.cpp")) for call in calls_of(p, means)]
    works, fails = {s for s, f in calls if not f}, {s for s, f in calls if f}
    problems, symbols = [], set()
    for kind, name, symbol, _ in table:
        if kind != "WG_DRIVER_NAME":
            symbols.add(symbol)
        symbols |= {f"{symbol}_{t.lower()}" for t in ("PTDS", "PTSZ") if kind.endswith(t)}
        if kind not in ("WG_DRIVER", "WG_DRIVER_PTDS", "WG_DRIVER_PTSZ"):
            continue
        if symbol not in works and symbol not in NEVER_WORK:
            problems.append(f"{symbol}: no test expects it to work")
        if symbol not in fails and symbol not in NEVER_FAIL:
            problems.append(f"{symbol}: no test expects an error of it")
    for name in {n for _, n, _, _ in table}:
        versions = [v for _, n, _, v in table if n == name]
        if versions != sorted(versions):
            problems.append(f"{name}: its rows are not in the order of versions")
    problems += [f"{n} means {s}, which is no row" for n, s in means.items() if s not in symbols]
    listed = subprocess.run(["nm", "-D", "--defined-only", args.library], capture_output=True, text=True, check=True)
    exported = set(re.findall(r" T (cu\w+)", listed.stdout))
    problems += [f"{n}: exported, but not in the table" for n in sorted(exported - symbols)]
    problems += [f"{n}: in the table, but not exported" for n in sorted(symbols - exported)]
    for problem in problems:
        print(problem)
    works_now = sum(k in ("WG_DRIVER", "WG_DRIVER_PTDS", "WG_DRIVER_PTSZ") for k, *_ in table)
    print(f"{len(table)} rows, {works_now} work, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
