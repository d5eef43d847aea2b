#!/usr/bin/env python3
"""Clients under warpgrind: runs their own test suites, module by module, and writes the table of docs/clients.md.

  scripts/clients.py --build build/release [numba ...] [--only WORD] [--jobs N] [--timeout SECONDS]

What was run is kept in docs/clients.json, so that a client that is not on this machine keeps its rows; docs/clients.md
is made from it, between the two marks."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- begin: scripts/clients.py -->", "<!-- end: scripts/clients.py -->")
COLUMNS = ("client", "version", "what was run", "passed", "failed", "skipped", "why")


def run(command, environment, timeout):
    """Exit status (None: it took too long) and all that was printed; what it started ends with it."""
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", start_new_session=True, cwd="/")
    try:
        text, _ = child.communicate(timeout=timeout)
        return child.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        text, _ = child.communicate()
        return None, text


class Numba:
    """Debian's python3-numba and its numba.cuda.tests."""

    name = "Numba"
    python = "/usr/bin/python3"
    folders = ("cudapy", "cudadrv", "doc_examples", "nocuda")

    def __init__(self, build):
        self.build = build

    def environment(self):
        toolkit = self.build / "toolkit"
        return dict(os.environ, CUDA_HOME=str(toolkit), NUMBA_CUDA_DRIVER=str(toolkit / "driver12/libcuda.so.1"))

    def version(self):
        """None: it is not here."""
        asked = subprocess.run([self.python, "-c", "import numba; print(numba.__version__)"], capture_output=True, text=True)
        return asked.stdout.strip() if asked.returncode == 0 else None

    def suites(self):
        place = subprocess.run([self.python, "-c", "import numba.cuda.tests as t; print(t.__path__[0])"],
                               capture_output=True, text=True, check=True).stdout.strip()
        for folder in self.folders:
            for file in sorted(pathlib.Path(place, folder).glob("test_*.py")):
                yield f"numba.cuda.tests.{folder}", f"numba.cuda.tests.{folder}.{file.stem}"

    def test(self, module, timeout):
        command = [self.build / "bin/warpgrind", "run", "--no-counters", "--quiet", self.python, "-m", "numba.runtests", "-v", module]
        status, text = run([str(word) for word in command], self.environment(), timeout)
        skipped = re.findall(r"skipped ['\"]([^\n]*)['\"]$", text, re.M)
        failed = sorted({f"{at}" for at in re.findall(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): \w+ \(([\w.]+)\)", text, re.M)})
        ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
        if not ran or not re.search(r"^(OK|FAILED)\b", text, re.M):
            failed.append(f"{module}: " + (f"no end within {timeout} s" if status is None else f"ended with {status}"))
        # Both the test and its tearDown may have failed, and a whole class counts as no test.
        passed = max(0, (int(ran[1]) if ran else 0) - len(failed) - len(skipped))
        counts = dict(passed=passed, failed=len(failed), skipped=len(skipped))
        whys = collections.Counter(skipped)
        names = {"failed": failed}
        return dict(module=module, text=text, whys=dict(whys), names=names, **counts)


class Hashcat:
    """Debian's hashcat: each mode's self-test and example hash, as tests/clients/hashcat/modes.py tries them."""

    name = "hashcat"
    script = ROOT / "tests/clients/hashcat/modes.py"
    what = "self-test and example hash of 30 common modes; a mask attack on an MD5 and on a SHA-256"

    def __init__(self, build):
        self.build = build

    def version(self):
        try:
            return subprocess.run(["hashcat", "--version"], capture_output=True, text=True).stdout.strip()
        except FileNotFoundError:
            return None

    def suites(self):
        modes = subprocess.run([sys.executable, self.script, "--list"], capture_output=True, text=True, check=True)
        return [(self.what, mode) for mode in modes.stdout.split()]

    def test(self, mode, timeout):
        command = [sys.executable, str(self.script), str(self.build / "bin/warpgrind"), "--modes", mode, "--seconds", str(timeout)]
        _, text = run(command, dict(os.environ), 3 * timeout)
        failed = re.findall(r"^FAILED (.*)", text, re.M)
        return dict(module=f"mode {mode}", text=text, whys={}, names=dict(failed=failed, skipped=[]), failed=len(failed),
                    passed=len(re.findall(r"^passed", text, re.M)))


CLIENTS = {"hashcat": Hashcat, "numba": Numba}


def row_of(client, version, what, results, reasons):
    total = collections.Counter()
    whys = collections.Counter()
    failed = []
    for one in results:
        for key in ("passed", "failed", "skipped"):
            total[key] += one.get(key, 0)
        whys.update(one["whys"])
        failed += one["names"]["failed"]
    return dict(client=client, version=version, what=what, **{key: total[key] for key in ("passed", "failed", "skipped")},
                skipped_for=dict(whys.most_common()), failed_tests=sorted(failed), reasons=reasons)


def why(row):
    parts = [f"{count} skipped: {text}" for text, count in row.get("skipped_for", {}).items()]
    parts += row.get("reasons", [])
    return "; ".join(parts).replace("|", "\\|")


def write(rows):
    """The store, and the document made from it."""
    (ROOT / "docs/clients.json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|---|---|--:|--:|--:|---|"]
    for row in rows:
        cells = [row["client"], row["version"], row["what"], row["passed"], row["failed"], row["skipped"], why(row)]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    failed = [(row["client"], one) for row in rows for one in row.get("failed_tests", [])]
    if failed:
        lines += ["", "What failed:", ""] + [f"- {client}: `{one}`" for client, one in failed]
    document = ROOT / "docs/clients.md"
    text = document.read_text()
    begin, end = (text.index(mark) for mark in MARKS)
    document.write_text(text[:begin] + MARKS[0] + "\n" + "\n".join(lines) + "\n" + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", default=[], choices=[[], *CLIENTS])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", help="modules with this in their names; nothing is written then")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300, help="seconds for each module")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder for what each module printed")
    arguments = parser.parse_args()
    store = ROOT / "docs/clients.json"
    rows = json.loads(store.read_text()) if store.exists() else []
    for name in arguments.clients or CLIENTS:
        client = CLIENTS[name](arguments.build.resolve())
        version = client.version()
        if not version:
            print(f"{client.name}: not on this machine, its rows stay as they are")
            continue
        groups = {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            waiting = [(what, pool.submit(client.test, module, arguments.timeout)) for what, module in client.suites()
                       if not arguments.only or arguments.only in module]
            for what, one in waiting:
                result = one.result()
                groups.setdefault(what, []).append(result)
                print(*(f"{result.get(key, 0):4} {key}" for key in ("passed", "failed", "skipped")), result["module"], flush=True)
                if arguments.logs:
                    arguments.logs.mkdir(parents=True, exist_ok=True)
                    (arguments.logs / f"{result['module']}.txt").write_text(result["text"])
        reasons = {(row["client"], row["what"]): row["reasons"] for row in rows}
        new = [row_of(client.name, version, what, results, reasons.get((client.name, what), [])) for what, results in groups.items()]
        rows = [row for row in rows if row["client"] != client.name] + new
    if not arguments.only:
        write(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
