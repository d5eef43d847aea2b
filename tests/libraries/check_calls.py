#!/usr/bin/env python3
"""Every function that a library exports is called by a test of this folder, or listed in uncalled.txt.

  check_calls.py --libraries LIBRARY... --tests PROGRAM...

What tests call is what the linker looks for in their programs: behind macros and templates too, and as the preprocessor
left it. uncalled.txt may only shrink: a function that is new has a test.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INTERNAL = re.compile(r"(?!cu|nccl)")  # exported for the linker's sake: _init and its like


def symbols(which, files):
    """Names of functions, by file."""
    found = {}
    for file in files:
        listed = subprocess.run(["nm", "-D", which, file], capture_output=True, text=True, check=True).stdout
        found[file] = {name for name in re.findall(r" [TU] (\w+)", listed) if not INTERNAL.match(name)}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", nargs="+", required=True)
    parser.add_argument("--tests", nargs="+", required=True)
    args = parser.parse_args()
    listed = {line.split()[0] for line in (HERE / "uncalled.txt").read_text().splitlines() if line and line[0] != "#"}
    called = set().union(*symbols("--undefined-only", args.tests).values())
    problems, exported = [], set()
    for library, names in symbols("--defined-only", args.libraries).items():
        exported |= names
        print(f"{pathlib.Path(library).name}: {len(names)} functions, {len(names & called)} called by tests, "
              f"{len(names & listed - called)} listed as uncalled")
        problems += [f"{name}: no test calls it" for name in sorted(names - called - listed)]
        if not names:
            problems.append(f"{library}: exports nothing")
    problems += [f"{name}: called by a test now: take it out of uncalled.txt" for name in sorted(listed & called)]
    built = tuple(pathlib.Path(library).name.removeprefix("lib").split(".")[0] for library in args.libraries)
    problems += [f"{name}: in uncalled.txt, and no library has it" for name in sorted(listed - exported) if name.startswith(built)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
