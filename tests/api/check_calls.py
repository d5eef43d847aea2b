#!/usr/bin/env python3
"""Every function of include/warpgrind/runtime_functions.inc is called by a test of this folder, and the library exports exactly these.

  check_calls.py --library LIBCUDART

A function must be called where its success is expected, OK(name(...)) or a value that is compared, and, unless it is
listed below, where an error is expected, FAILS(error, name(...)). What all functions do with null arguments is in
null_arguments.txt (null_test.cpp), and that unsupported ones say so in unsupported_test.cpp.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "include/warpgrind/runtime_functions.inc"
# They cannot fail, or have nothing to be wrong about; the registration of compiled programs reports nothing.
NEVER_FAIL = """cudaGetErrorName cudaGetErrorString cudaGetLastError cudaPeekAtLastError cudaCtxResetPersistingL2Cache
cudaDeviceReset cudaProfilerStart cudaProfilerStop cudaCreateChannelDesc cudaDeviceSynchronize
cudaDeviceGetStreamPriorityRange""".split()
UNSUPPORTED = "WG_UNSUPPORTED WG_UNSUPPORTED_PTDS WG_UNSUPPORTED_PTSZ WG_UNDECLARED".split()


def functions():
    found = {}
    for line in TABLE.read_text().splitlines():
        row = re.match(r"(WG_\w+)\((?:[^,()]*(?:\([^)]*\))?, )?(\w+)[,)]", line)
        if row and not line.startswith("//"):
            kind, name = row.groups()
            found[name] = kind
            for twin in ("PTDS", "PTSZ"):
                if kind.endswith(twin):
                    found[f"{name}_{twin.lower()}"] = kind
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    table = functions()
    text = "\n".join(re.sub(r"//.*", "", p.read_text()) for p in sorted(HERE.glob("*.cpp")))
    called = set(re.findall(r"\b(\w*cuda\w+)\(", text))
    fails = set(re.findall(r"\bFAILS\(\s*\w+,\s*(\w+)\(", text))
    works = called - {n for n in fails if len(re.findall(rf"\b{n}\(", text)) ==
                      len(re.findall(rf"\bFAILS\(\s*\w+,\s*{n}\(", text))}
    problems = []
    for name, kind in table.items():
        if kind in UNSUPPORTED:
            continue  # unsupported_test.cpp goes over the table
        internal, twin = name.startswith("__"), name.endswith(("_ptds", "_ptsz"))
        if name not in works:
            problems.append(f"{name}: no test expects it to work")
        if name not in fails and not internal and not twin and name not in NEVER_FAIL:
            problems.append(f"{name}: no test expects an error of it")
    listed = subprocess.run(["nm", "-D", "--defined-only", args.library], capture_output=True, text=True, check=True)
    exported = {n for n in re.findall(r" T ([\w]+)", listed.stdout) if n.startswith(("cuda", "__cuda"))}
    problems += [f"{n}: exported, but not in the table" for n in sorted(exported - set(table))]
    problems += [f"{n}: in the table, but not exported" for n in sorted(set(table) - exported)]
    for problem in problems:
        print(problem)
    print(f"{len(table)} functions, {sum(k in UNSUPPORTED for k in table.values())} unsupported, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
