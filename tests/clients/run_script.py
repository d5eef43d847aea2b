#!/usr/bin/env python3
"""A script of a client under warpgrind: it checks its own results; what else has to be is in its comments.

  # want KERNEL: METRIC = VALUE               of the kernels with this name, summed up ("launches" is one too)
  # want KERNEL line TEXT: METRIC = VALUE     of the line of the script that begins so
  # output TEXT                               a line of what is printed
  # check                                     `warpgrind check` instead of `run`
  # finding KIND FILE line TEXT               what it has to find, and where

  run_script.py --build BUILD numba/NAME.py

Exit status 77: the client is not here."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT = 1200  # seconds


def missing(build):
    """Why Numba cannot be run here; empty: it can."""
    python = "/usr/bin/python3"  # Debian's; another one has other packages
    if subprocess.run([python, "-c", "import numba.cuda"], capture_output=True).returncode != 0:
        return "python3-numba is not installed"
    for file in ("toolkit/nvvm/lib64/libnvvm.so.4", "toolkit/nvvm/libdevice/libdevice.10.bc", "toolkit/driver12/libcuda.so.1"):
        if not (build / file).exists():
            return f"{file} was not built"
    return ""


def number_of_line(lines, text):
    return next(i for i, line in enumerate(lines, 1) if line.strip().startswith(text) and not line.startswith("#"))


def short_name(kernel):
    """Numba's kernels are cudapy::MODULE::NAME[abi:...](TYPES)."""
    return re.sub(r"\[abi:.*|\(.*", "", kernel["name"]).split("::")[-1]


def values_of(kernels, name, metric, line):
    for kernel in kernels:
        if short_name(kernel) != name:
            continue
        if metric == "launches":
            yield kernel["launches"]
        elif line is None:
            yield kernel["metrics"][metric]["value"]
        else:
            yield from (row["metrics"][metric]["value"] for row in kernel["lines"]
                        if row["line"] == line and metric in row["metrics"])


def problems(script, profile, text, status, checking):
    lines = script.read_text().splitlines()
    findings = profile.get("findings", [])
    if checking == (status == 0):
        yield f"ended with {status}"
    for line in lines:
        if want := re.match(r"# want (\w+)(?: line (.*?))?: (\S+) = (\d+)$", line):
            at = number_of_line(lines, want[2]) if want[2] else None
            got = sum(values_of(profile["kernels"], want[1], want[3], at))
            if got != int(want[4]):
                yield f"{line[2:]}: it is {got}"
        elif want := re.match(r"# output (.*)$", line):
            if want[1] not in text.splitlines():
                yield f"not printed: {want[1]}"
        elif want := re.match(r"# finding (\S+) (\S+) line (.*)$", line):
            at = f"{want[2]}:{number_of_line(lines, want[3])} "
            if f"ERROR: {want[1]}:" not in text or at not in text:
                yield f"not found: {want[1]} at {at}"
    if not checking and findings:
        yield f"findings: {findings}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("script")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if why := missing(build):
        print(f"skipped: {why}")
        return SKIPPED
    script = HERE / arguments.script
    checking = "# check" in script.read_text().splitlines()
    toolkit = build / "toolkit"
    environment = dict(os.environ, CUDA_HOME=str(toolkit), NUMBA_CUDA_DRIVER=str(toolkit / "driver12/libcuda.so.1"))
    with tempfile.TemporaryDirectory() as folder:
        json_file = pathlib.Path(folder, "profile.json")
        command = [build / "bin/warpgrind"] + (["check"] if checking else ["run", "--detail", "--json", json_file])
        ended = subprocess.run(command + ["/usr/bin/python3", script], env=environment, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
        profile = json.loads(json_file.read_text()) if json_file.exists() else {}
    wrong = list(problems(script, profile, ended.stdout, ended.returncode, checking))
    if wrong:
        print(ended.stdout)
    print("\n".join(wrong) or "good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
