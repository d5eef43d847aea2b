#!/usr/bin/env python3
"""Runs one case of tests/run/cases/*.toml: `warpgrind` on a whole program, from its command line to its output.

  run_case.py --list [FILE]                the names of all cases (of cases/FILE.toml), one a line
      --compilers NAME...                  only those whose programs these compilers build
      --either-way                         only those that do not depend on the compiler of the programs
  run_case.py --build DIR NAME             runs one; exit code 0 passed, 1 failed, 77 skipped (the reason is printed)

A case is a table [[case]] with
  name       unique; one with programs gives two cases, NAME.nvcc and NAME.clang: skipped if not built
  command    arguments of warpgrind. {NAME} is the program NAME of lab/ or tests/run/programs, {out} an empty folder,
             {src} this folder, {build} the build folder
  exit       the expected exit code (default 0); or "nonzero"
  stdout, stderr   regular expressions that must occur, in this order; not_stdout, not_stderr: that must not
  needs      "nvcc", "clang": skipped when it is not installed; "no gpu": skipped where there is one; "page": skipped where the
             build has no page of the HTML report (no node)
  long       true: half a minute of kernels that shorter cases cover too; skipped in builds for a sanitizer
  compiles   true: a compiler runs in the run; skipped in builds for a sanitizer
  launches   list of per-launch checks, kernels: list of per-kernel checks in the JSON file {out}/profile.json:
             { name = REGEX, launches = N, metrics = { METRIC = "expression" } }; every = true: holds for all of that name
  line_sums  metrics whose sum over the source lines must be the kernel's, for every kernel
  files      { NAME = REGEX }: files (or folders, whatever the expression) that the run must leave in {out}
  not_files  paths that must not be there afterwards
  prepare    shell commands that run before
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import whole_run  # noqa: E402

SKIP = 77
# Where programs are, below the build folder.
PROGRAM_FOLDERS = ("lab", "tests/run")
PROGRAM = re.compile(r"\{(\w+)\}")


def compiles_nothing(case):
    """Neither runs a CUDA program that was built nor builds one: the same with and without NVIDIA's toolkit."""
    words = case["command"] + case.get("prepare", [])
    return ("needs" not in case and not any(".cu" in word or "nvcc" in word for word in words)
            and all(name in ("out", "src", "build") for word in words for name in PROGRAM.findall(word)))


def read_cases(files="*"):
    cases = {}
    for path in sorted((HERE / "cases").glob(f"{files}.toml")):
        with open(path, "rb") as f:
            data = tomllib.load(f)
        for case in data["case"]:
            names = [case["name"]]
            programs = [p for a in case["command"] + case.get("prepare", []) for p in PROGRAM.findall(a)]
            if case.get("needs") != "nvcc" and any(p not in ("out", "src", "build") for p in programs):
                names = [f"{case['name']}.nvcc", f"{case['name']}.clang"]
            for name in names:
                assert name not in cases, f"{path}: two cases {name}"
                cases[name] = dict(case, compiler=name.rpartition(".")[2] if len(names) == 2 else "nvcc")
    return cases


def find_program(name, build, compiler):
    file = whole_run.program_name(build, name, compiler)
    paths = [build / folder / file for folder in PROGRAM_FOLDERS] if file else []
    return next((str(path) for path in paths if path.exists()), None)


def check_order(patterns, text, what, problems):
    at = 0
    for pattern in patterns:
        found = re.compile(pattern, re.M).search(text, at)
        if not found:
            problems.append(f"{what}: no match for {pattern!r}" + (" after the one before it" if at else ""))
        else:
            at = found.end()


def check_kernels(checks, kernels, what, problems):
    for check in checks:
        found = [k for k in kernels if re.search(check["name"], k["name"])]
        if check.get("every"):
            for k in found:
                check_kernels([{**check, "every": False}], [k], what, problems)
            continue
        if "index" in check:
            found = found[check["index"]:check["index"] + 1]
        if not found:
            problems.append(f"{what}: no kernel {check['name']!r} among {[k['name'] for k in kernels]}")
            continue
        kernel = found[0]
        if "launches" in check and kernel["launches"] != check["launches"]:
            problems.append(f"{kernel['name']}: {kernel['launches']} launches, expected {check['launches']}")
        if "range" in check and kernel["range"] != check["range"]:
            problems.append(f"{kernel['name']}: in the range {kernel['range']!r}, expected {check['range']!r}")
        for metric, expression in check.get("metrics", {}).items():
            want = eval(str(expression), {"min": min, "max": max})  # arithmetic of our own case files
            row = kernel["metrics"].get(metric)
            got = row["value"] if row else None
            if isinstance(want, (int, float)) and isinstance(got, (int, float)):
                good = abs(got - want) <= check.get("tolerance", 1e-9) * max(1, abs(want))
            else:
                good = got == want
            if not good:
                problems.append(f"{kernel['name']}: {metric} is {got}, expected {expression} = {want}")


# What a source line takes from an instruction's metrics, where the machine code has it.
OF_MACHINE_CODE = {"memory_l1_wavefronts_shared": "warpgrind__machine_wavefronts_shared",
                   "memory_l1_wavefronts_shared_ideal": "warpgrind__machine_wavefronts_shared_ideal"}


def without_line(metric, kernel):
    """What instructions have to which the compiler gave line 0, as clang does to some that it merges."""
    found = [site["metrics"] for site in kernel["sites"] if site["line"] == 0]
    return sum(m.get(OF_MACHINE_CODE.get(metric), m.get(metric, {"value": 0}))["value"] for m in found)


def check_line_sums(metrics, kernels, problems):
    compared = 0
    for kernel in kernels:
        for metric in metrics:
            lines = sum(line["metrics"].get(metric, {"value": 0})["value"] for line in kernel["lines"])
            lines += without_line(metric, kernel)
            whole = kernel["metrics"].get(metric, {"value": 0})["value"]
            compared += whole != 0
            if lines != whole:
                problems.append(f"{kernel['name']}: {metric} is {whole}, and {lines} in the sum of its lines")
    if compared < len(metrics):
        problems.append(f"only {compared} values that are not 0")


def run(case, build):
    problems = []
    with tempfile.TemporaryDirectory(prefix="warpgrind-test-") as folder:
        values = {"out": folder, "src": str(HERE), "build": str(build)}

        def fill(text):
            for name in PROGRAM.findall(text):
                if name not in values:
                    values[name] = find_program(name, build, case["compiler"])
                if values[name] is None:
                    print(f"skipped: {name} was not built by {case['compiler']}")
                    sys.exit(SKIP)
                text = text.replace("{" + name + "}", values[name])
            return text

        if case.get("needs") == "no gpu" and os.path.exists("/dev/nvidiactl"):
            print("skipped: this machine has an NVIDIA GPU")
            return SKIP
        if case.get("needs") == "nvcc" and not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
            print("skipped: nvcc is not installed")
            return SKIP
        if case.get("compiles") and os.environ.get("WARPGRIND_TEST_PRELOAD"):
            print("skipped: a compiler does not run beside a sanitizer's library")
            return SKIP
        if case.get("long") and os.environ.get("WARPGRIND_TEST_PRELOAD"):
            print("skipped: long, and not what a sanitizer looks at")
            return SKIP
        page = build / "web/page.html"
        if case.get("needs") == "page" and not (page.exists() and page.stat().st_size):
            print("skipped: this build has no report page (node or npm was missing)")
            return SKIP
        if case.get("needs") == "clang" and not shutil.which("clang++-19"):
            print("skipped: clang-19 is not installed")
            return SKIP
        for step in case.get("prepare", []):
            path = os.environ["PATH"] + ":/usr/local/cuda/bin"
            starts_run = "bin/warpgrind" in step
            environment = whole_run.environment(PATH=path) if starts_run else {**os.environ, "PATH": path}
            line, environment = whole_run.in_shell(fill(step), environment)
            subprocess.run(line, shell=True, check=True, env=environment)
        command = [str(build / "bin/warpgrind")] + [fill(a) for a in case["command"]]
        if "kernels" in case or "launches" in case or "line_sums" in case:
            command[2:2] = ["--json", f"{folder}/profile.json"] + (["--launches"] if "launches" in case else [])
            command[2:2] = ["--detail"] if "line_sums" in case else []
        wanted = {name: fill(value) for name, value in case.get("environment", {}).items()}
        environment = whole_run.environment(**{"XDG_CACHE_HOME": str(build / "test-cache"), **wanted})
        print("$", " ".join(command))
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1400, env=environment,
                              stdin=subprocess.DEVNULL)
        want = case.get("exit", 0)
        if done.returncode != want and not (want == "nonzero" and done.returncode > 0):
            problems.append(f"exit code {done.returncode}, expected {want}")
        if report := whole_run.sanitizer_report(done.stderr):
            problems.append(report)
        for stream in ("stdout", "stderr"):
            text = getattr(done, stream)
            check_order(case.get(stream, []), text, stream, problems)
            for pattern in case.get(f"not_{stream}", []):
                if re.search(pattern, text, re.M):
                    problems.append(f"{stream}: {pattern!r} must not occur")
        for name, pattern in case.get("files", {}).items():
            path = pathlib.Path(folder) / name
            if not path.exists():
                problems.append(f"no file {name}")
            elif path.is_file() and not re.search(pattern, path.read_text(), re.M):
                problems.append(f"{name}: no match for {pattern!r} in {path.read_text()[:500]!r}")
        problems += [f"{name} is there" for name in case.get("not_files", []) if os.path.exists(fill(name))]
        if "line_sums" in case and not problems:
            with open(f"{folder}/profile.json") as f:
                check_line_sums(case["line_sums"], json.load(f)["kernels"], problems)
        for what in ("kernels", "launches"):
            if what in case:
                try:
                    with open(f"{folder}/profile.json") as f:
                        check_kernels(case[what], json.load(f)[what], what, problems)
                except OSError as error:
                    problems.append(str(error))
    for problem in problems:
        print("FAILED:", problem)
    if problems:
        print("---- stdout\n" + done.stdout[-4000:] + "\n---- stderr\n" + done.stderr[-6000:])
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", nargs="?", const="*", metavar="FILE")
    parser.add_argument("--compilers", nargs="+", default=["nvcc", "clang"])
    parser.add_argument("--either-way", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    cases = read_cases(args.list or "*")
    if args.list:
        others = tuple(f".{name}" for name in {"nvcc", "clang"} - set(args.compilers))
        print("\n".join(name for name, case in cases.items()
                        if not name.endswith(others) and (compiles_nothing(case) or not args.either_way)))
        return 0
    if args.name not in cases:
        parser.error(f"no case {args.name!r}")
    return run(cases[args.name], args.build.resolve())


if __name__ == "__main__":
    sys.exit(main())
