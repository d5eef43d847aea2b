#!/usr/bin/env python3
"""Runs one case of tests/toolchain/cases/*.toml: `warpgrind nvcc` as makefiles, CMake and people call it.

  run_case.py --list                 the names of all cases, one a line
  run_case.py --build DIR NAME       runs one; exit code 0 passed, 1 failed, 77 skipped (the reason is printed)

A case is a table [[case]] with
  name     unique
  files    { NAME = "text" }: what lies in the empty folder that the commands run in
  run      shell commands, one after the other until one fails. $NVCC is the nvcc of the build's toolkit folder, $WARPGRIND the
           program, $TOOLKIT the folder. A program that was compiled is run as it is: ./app
           Exit code 77: the case is skipped, what was printed says why.
  exit     the exit code of the last command that ran (default 0)
  stdout, stderr   regular expressions that must occur, in this order; not_stdout, not_stderr: that must not
  is       { NAME = REGEX }: files that must be there at the end (the text is searched); gone = [NAME]: that must not
  needs    names of programs without which it is skipped
  env      { NAME = "value" }
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77


def read_cases():
    cases = {}
    for path in sorted((HERE / "cases").glob("*.toml")):
        with open(path, "rb") as f:
            for case in tomllib.load(f)["case"]:
                assert case["name"] not in cases, f"{path}: two cases {case['name']}"
                cases[case["name"]] = dict(case, runs=path.stem != "options")
    return cases


def in_order(patterns, text, what, problems):
    at = 0
    for pattern in patterns:
        found = re.compile(pattern, re.M).search(text, at)
        if found:
            at = found.end()
        else:
            problems.append(f"{what}: no match for {pattern!r}" + (" after the one before it" if at else ""))


def run(case, build, folder):
    for name, text in case.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    temporary = folder.parent / "tmp"
    temporary.mkdir()
    toolkit = build / "toolkit"
    env = {k: v for k, v in os.environ.items() if k not in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "LD_LIBRARY_PATH",
                                                            "CPATH", "CUDACXX", "MAKEFLAGS")}
    env.update(NVCC=str(toolkit / "bin/nvcc"), WARPGRIND=str(build / "bin/warpgrind"), TOOLKIT=str(toolkit),
               TMPDIR=str(temporary), XDG_CACHE_HOME=str(build / "tests/toolchain/cache"))
    env.update(case.get("env", {}))
    out, err, code = "", "", 0
    for command in case["run"]:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True)
        out, err, code = out + done.stdout, err + done.stderr, done.returncode
        if code:
            break
    if code == SKIP:
        return None, out, err
    problems = []
    if code != case.get("exit", 0):
        problems.append(f"exit code {code}, not {case.get('exit', 0)}")
    in_order(case.get("stdout", []), out, "stdout", problems)
    in_order(case.get("stderr", []), err, "stderr", problems)
    problems += [f"{what}: must not match {p!r}" for what, text in (("stdout", out), ("stderr", err))
                 for p in case.get("not_" + what, []) if re.search(p, text, re.M)]
    for name, pattern in case.get("is", {}).items():
        if not (folder / name).exists():
            problems.append(f"{name} is not there")
        elif not re.search(pattern, (folder / name).read_text(errors="replace"), re.M):
            problems.append(f"{name}: no match for {pattern!r}")
    problems += [f"{name} is there" for name in case.get("gone", []) if (folder / name).exists()]
    problems += [f"left in TMPDIR: {p.name}" for p in temporary.iterdir()]
    return problems, out, err


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    cases = read_cases()
    if args.list:
        print("\n".join(cases))
        return 0
    case = cases[args.name]
    for program in ["clang++-19", *case.get("needs", [])]:
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            return SKIP
    if case["runs"] and os.environ.get("WARPGRIND_TEST_PRELOAD"):
        print("skipped: a sanitizer's library would have to come first in every shell, compiler and program")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        problems, out, err = run(case, args.build.resolve(), work)
    if problems is None:
        print(f"skipped: {out or err}")
        return SKIP
    if problems:
        print("\n".join(problems), f"-- stdout\n{out}-- stderr\n{err}", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
