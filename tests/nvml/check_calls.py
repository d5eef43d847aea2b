#!/usr/bin/env python3
"""Every function of include/warpgrind/nvml_functions.inc that works is called by nvml_test.cpp, and the library exports exactly
the table.

  check_calls.py --library LIBNVIDIA_ML
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "include/warpgrind/nvml_functions.inc"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    text = TABLE.read_text()
    works = re.findall(r"^WG_NVML\([^,]+, (\w+),", text, re.M)
    refused = re.findall(r"^WG_NVML_\w+\((\w+)", text, re.M)
    called = set(re.findall(r"\b(nvml\w+)\b", re.sub(r"//.*", "", (HERE / "nvml_test.cpp").read_text())))
    problems = [f"{n}: no test calls it" for n in works if n not in called]
    listed = subprocess.run(["nm", "-D", "--defined-only", args.library], capture_output=True, text=True, check=True)
    exported, table = set(re.findall(r" T (nvml\w+)", listed.stdout)), set(works + refused)
    problems += [f"{n}: exported, but not in the table" for n in sorted(exported - table)]
    problems += [f"{n}: in the table, but not exported" for n in sorted(table - exported)]
    for problem in problems:
        print(problem)
    print(f"{len(works)} functions work, {len(refused)} are refused, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
