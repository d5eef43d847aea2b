#!/usr/bin/env python3
"""Runs a script of a client under warpgrind. The script checks its own results; its comments state further expectations.

  # want KERNEL: METRIC = VALUE               Sum over the kernels with this name. "launches" is a metric, too.
  # want KERNEL line TEXT: METRIC = VALUE     Value of the script's line that begins with TEXT.
  # output TEXT                               A line of the output.
  # check                                     Runs `warpgrind check` instead of `run`.
  # finding KIND FILE line TEXT               An expected finding, and its place.

  run_script.py --build BUILD numba/NAME.py
  run_script.py --build BUILD cupy [--options --nvrtc ours]      all of a client's
  run_script.py --gpu cupy                                       on a real GPU: results only

CuPy is looked for in $WARPGRIND_CUPY_PYTHON, or else in python3. Lines of CUDA C++ in a text of the script count from where that
text begins, and its file has a name of CuPy's own: * for FILE. Exit status 77: the client is not here."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT = 1200  # seconds


class Numba:
    python = "/usr/bin/python3"  # Debian's; another one has other packages

    def missing(self, build):
        """Why it cannot be run here; empty: it can."""
        if subprocess.run([self.python, "-c", "import numba.cuda"], capture_output=True).returncode != 0:
            return "python3-numba is not installed"
        for file in ("toolkit/nvvm/lib64/libnvvm.so.4", "toolkit/nvvm/libdevice/libdevice.10.bc", "toolkit/driver12/libcuda.so.1"):
            if not (build / file).exists():
                return f"{file} was not built"
        return ""

    def environment(self, build):
        toolkit = build / "toolkit"
        return dict(CUDA_HOME=str(toolkit), NUMBA_CUDA_DRIVER=str(toolkit / "driver12/libcuda.so.1"))


class Cupy:
    python = os.environ.get("WARPGRIND_CUPY_PYTHON") or shutil.which("python3") or "python3"

    def missing(self, build):
        if subprocess.run([self.python, "-c", "import cupy"], capture_output=True).returncode != 0:
            return f"{self.python} has no CuPy (WARPGRIND_CUPY_PYTHON may name another one)"
        return ""

    def environment(self, build):
        return {}


CLIENTS = {"numba": Numba(), "cupy": Cupy()}


def number_of_line(lines, text):
    found = next(i for i, line in enumerate(lines, 1) if line.strip().startswith(text) and not line.startswith("#"))
    quotes = [i for i, line in enumerate(lines[:found], 1) for _ in range(line.count('"""'))]
    return found - quotes[-1] + 1 if len(quotes) % 2 else found


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
            file = r"\S+" if want[2] == "*" else re.escape(want[2])
            at = f"{file}:{number_of_line(lines, want[3])} "
            if f"ERROR: {want[1]}:" not in text or not re.search(at, text):
                yield f"not found: {want[1]} at {at}"
    if not checking and findings:
        yield f"findings: {findings}"


def run_virtual(client, script, build, options):
    checking = "# check" in script.read_text().splitlines()
    environment = dict(os.environ, **client.environment(build))
    with tempfile.TemporaryDirectory() as folder:
        json_file = pathlib.Path(folder, "profile.json")
        command = [build / "bin/warpgrind"] + (["check"] if checking else ["run", "--detail", "--json", json_file])
        ended = subprocess.run(command + options + [client.python, script], env=environment, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
        profile = json.loads(json_file.read_text()) if json_file.exists() else {}
    return ended.stdout, list(problems(script, profile, ended.stdout, ended.returncode, checking))


def run_real(client, script):
    """Only what the script checks itself; what has to be found is not looked for."""
    if "# check" in script.read_text().splitlines():
        return "", []
    ended = subprocess.run([client.python, script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT,
                           check=False)
    return ended.stdout, [f"ended with {ended.returncode}"] if ended.returncode else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--build", type=pathlib.Path, help="on the virtual GPU of this build")
    where.add_argument("--gpu", action="store_true", help="on a real one, without warpgrind")
    parser.add_argument("script", help="CLIENT/NAME.py, or CLIENT for all of its scripts")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="of warpgrind run, behind all others")
    arguments = parser.parse_args()
    client = CLIENTS[pathlib.Path(arguments.script).parts[0]]
    build = arguments.build and arguments.build.resolve()
    if not arguments.gpu and (why := client.missing(build)):
        print(f"skipped: {why}")
        return SKIPPED
    named = HERE / arguments.script
    scripts = sorted(named.glob("*.py")) if named.is_dir() else [named]
    failed = False
    for script in scripts:
        text, wrong = run_real(client, script) if arguments.gpu else run_virtual(client, script, build, arguments.options)
        if wrong:
            print(text)
        print(f"{script.name}:", "\n".join(wrong) or "good", flush=True)
        failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
