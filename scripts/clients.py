#!/usr/bin/env python3
"""Test suites of clients under warpgrind: runs them module by module and writes the tables of docs/clients.md.

  scripts/clients.py --build build/release [numba cupy ...] [--only WORD] [--jobs N] [--timeout SECONDS]
  scripts/clients.py --limit 240 --rows FILE numba-cuda      on another machine; and here: --take FILE

docs/clients.json stores all results, so a client that is missing on this machine keeps its rows. The part of
docs/clients.md between the two marks is generated from it. The notes ("reasons") of a row are written by hand."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- begin: scripts/clients.py -->", "<!-- end: scripts/clients.py -->")
KEYS = ("client", "version", "what", "passed", "failed", "skipped")
COLUMNS = ("client", "version", "suite", "passed", "failed", "skipped", "notes")


def run(command, environment, timeout):
    """Exit status (None: timeout) and the output. Child processes end with the command."""
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
    package = "numba"
    options = ("--no-counters", "--quiet")

    native = False

    def __init__(self, build):
        self.build = build

    def environment(self):
        return dict(os.environ, CUDA_HOME=str(self.build / "toolkit"))

    def output_of(self, program):
        """Output of a Python program; None: no output. (A program that uses no CUDA ends with an error under warpgrind.)"""
        ended = subprocess.run(self.command("-c", program), capture_output=True, text=True, env=self.environment())
        return ended.stdout.strip() or None

    def command(self, *words):
        under = [] if self.native else [str(self.build / "bin/warpgrind"), "run", *self.options]
        return [*under, self.python, *words]

    def version(self):
        """Version of the client; None: not installed."""
        return self.output_of(f"import {self.package}; print({self.package}.__version__)")

    def suites(self):
        place = self.output_of("import numba.cuda.tests as t; print(t.__path__[0])")
        for folder in self.folders:
            for file in sorted(pathlib.Path(place, folder).glob("test_*.py")):
                # For a module without one (pytest modules), numba.runtests would run all modules.
                if re.search(r"^class \w+\(.*Test", file.read_text(), re.M):
                    yield f"numba.cuda.tests.{folder}", f"numba.cuda.tests.{folder}.{file.stem}"

    def test(self, module, timeout):
        status, text = run(self.command("-m", "numba.runtests", "-v", module), self.environment(), timeout)
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


class NumbaCuda(Numba):
    """The package numba-cuda of $WARPGRIND_NUMBA_CUDA_PYTHON, or of python3, with NVIDIA's libraries where they are found."""

    name = "numba-cuda"
    package = "numba_cuda"
    folders = ("cudapy", "cudadrv", "core", "doc_examples", "nocuda", "nrt")
    python = os.environ.get("WARPGRIND_NUMBA_CUDA_PYTHON") or "python3"
    stand_ins = ROOT / "tests/clients/numba_cuda"
    # Kernels of three of its tests step past the end of an array, where a GPU has a page.
    options = ("--no-counters", "--quiet", "--no-bounds-stop")

    def environment(self):
        return dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [str(self.stand_ins), os.environ.get("PYTHONPATH")])))


class NumbaCudaAlone(NumbaCuda):
    """The same without NVIDIA's toolkit: libNVVM, NVRTC, nvJitLink and the headers are ours."""

    name = "numba-cuda, no toolkit"
    options = (*NumbaCuda.options, "--nvrtc", "ours")

    def environment(self):
        return dict(super().environment(), CUDA_HOME=str(self.build / "toolkit"))


class Hashcat:
    """Debian's hashcat: each mode's self-test and example hash, as tests/clients/hashcat/modes.py tries them."""

    name = "hashcat"
    script = ROOT / "tests/clients/hashcat/modes.py"
    what = "self-test and example hash of 30 common modes; mask attacks on MD5 and SHA-256"

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


class Cupy:
    """CuPy of $WARPGRIND_CUPY_PYTHON, or of python3: our scripts with NVIDIA's NVRTC and with ours, and its own tests where
    $WARPGRIND_CUPY_TESTS names the folder `tests` of its sources. Not those that are marked slow (arrays of 4 GiB), nor those of
    Jitify, which is deprecated and compiles each header by itself."""

    name = "CuPy"
    python = os.environ.get("WARPGRIND_CUPY_PYTHON") or shutil.which("python3") or "python3"
    api_tests = ("compiler device driver graph memory memory_hook nvrtc nvtx pinned_memory profile runtime stream texture").split()

    def __init__(self, build):
        self.build = build

    def version(self):
        done = subprocess.run([self.python, "-c", "import cupy; print(cupy.__version__)"], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def suites(self):
        for nvrtc in ("nvidia", "ours"):
            for script in sorted((ROOT / "tests/clients/cupy").glob("*.py")):
                yield f"our scripts, --nvrtc {nvrtc}", f"{nvrtc}:{script.name}"
        tests = pathlib.Path(os.environ.get("WARPGRIND_CUPY_TESTS", "/nonexistent"))
        for file in sorted(tests.glob("cupy_tests/core_tests/**/test_*.py")):
            yield "cupy_tests/core_tests", str(file.relative_to(tests))
        for name in self.api_tests:
            if (tests / f"cupy_tests/cuda_tests/test_{name}.py").exists():
                yield "cupy_tests/cuda_tests", f"cupy_tests/cuda_tests/test_{name}.py"

    def script(self, module, timeout):
        nvrtc, name = module.split(":")
        status, text = run([sys.executable, str(ROOT / "tests/clients/run_script.py"), "--build", str(self.build), f"cupy/{name}",
                            "--options", "--nvrtc", nvrtc], dict(os.environ), timeout)
        failed = [] if status == 0 else [f"{module}: " + (f"no end within {timeout} s" if status is None else f"ended with {status}")]
        return dict(module=module, text=text, whys={}, names=dict(failed=failed), passed=1 - len(failed), failed=len(failed))

    def test(self, module, timeout):
        if ":" in module:
            return self.script(module, timeout)
        tests = os.environ["WARPGRIND_CUPY_TESTS"]
        environment = dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        command = [self.build / "bin/warpgrind", "run", "--no-counters", "--quiet", "--devices", "2", self.python, "-m", "pytest",
                   "-p", "no:cacheprovider", "--rootdir", tests, "-q", "-rfEs", "--tb=short", "-W", "ignore", "-m", "not slow",
                   "-k", "not jitify or no-jitify", f"{tests}/{module}"]
        status, text = run([str(word) for word in command], environment, timeout)
        ended = re.search(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s", text, re.M)
        counts = {what: int(n) for n, what in re.findall(r"(\d+) (\w+)", ended[1])} if ended else {}
        found = re.findall(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", text, re.M)
        failed = sorted({one[one.index("cupy_tests"):] for one in found})
        if not ended:
            failed.append(f"{module}: " + (f"no end within {timeout} s" if status is None else f"ended with {status}"))
        whys = collections.Counter()
        for count, why in re.findall(r"^SKIPPED \[(\d+)\] \S+: (.*)$", text, re.M):
            whys[why] += int(count)
        return dict(module=module.replace("/", "."), text=text, whys=dict(whys), names=dict(failed=failed), failed=len(failed),
                    passed=counts.get("passed", 0), skipped=counts.get("skipped", 0))


class Triton:
    """Triton of $WARPGRIND_TRITON_PYTHON, or of python3: our scripts, and its tutorials where $WARPGRIND_TUTORIALS names the
    folder they are in (they need torch beside)."""

    name = "Triton"
    python = os.environ.get("WARPGRIND_TRITON_PYTHON") or "python3"
    folder = ROOT / "tests/clients/triton"
    scripts = ("vector_add", "softmax", "matmul", "layer_norm", "language")

    def __init__(self, build):
        self.build = build

    def version(self):
        done = subprocess.run([self.python, "-c", "import numpy, triton; print(triton.__version__)"], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def suites(self):
        tutorials = pathlib.Path(os.environ.get("WARPGRIND_TUTORIALS", "/nonexistent"))
        for gpu in ("a100", "h200"):
            for name in self.scripts:
                yield f"our scripts, --gpu {gpu}", f"{gpu} {self.folder / name}.py"
            for script in sorted(tutorials.glob("*.py")):
                yield f"tutorials, --gpu {gpu}", f"{gpu} {script}"

    def test(self, module, timeout):
        gpu, script = module.split(" ", 1)
        runner = [] if pathlib.Path(script).is_relative_to(self.folder) else [str(self.folder / "run_tutorial.py")]
        command = [str(self.build / "bin/warpgrind"), "run", "--quiet", "--gpu", gpu, self.python, *runner, script]
        status, text = run(command, dict(os.environ), timeout)
        name = f"{pathlib.Path(script).name} on {gpu}"
        # A script reports a difference by an exception, tutorial 3 by its output.
        good = status == 0 and "differ\n" not in text
        why_not = f"no end within {timeout} s" if status is None else f"ended with {status}"
        return dict(module=name, text=text, whys={}, names=dict(failed=[] if good else [f"{name}: {why_not}"]), passed=int(good),
                    failed=int(not good))


class Llama:
    """llama.cpp of npm: each model of tests/clients/llama_cpp/compare.py on the three GPUs for which its library has PTX. Then the tables of its
    chapter (document.py)."""

    name = "llama.cpp"
    what = "logits and text of random models"
    gpus = ("h200", "a100", "t4")
    folder = ROOT / "tests/clients/llama_cpp"
    package = "node-llama-cpp"

    def __init__(self, build):
        self.build, self.work = build, build / "tests/clients" / self.folder.name
        self.results = self.work / "results"

    def options(self, module):
        return ["--json", str(self.results / f"{module.replace(' ', '_')}.json")]

    def command(self, script, *words):
        return [sys.executable, str(self.folder / script), str(self.build / "bin/warpgrind"), str(self.work), *words]

    def version(self):
        """That of the npm package, which is installed if it is not; None: it cannot be."""
        if subprocess.run(self.command("compare.py", "--models"), capture_output=True).returncode != 0:
            return None
        return json.loads((self.folder / "package.json").read_text())["dependencies"][self.package]

    def suites(self):
        models = subprocess.run([sys.executable, self.folder / "compare.py", "--list"], capture_output=True, text=True, check=True)
        return [(f"{self.what}, --gpu {gpu}", f"{gpu}:{model}") for gpu in self.gpus for model in models.stdout.splitlines()]

    def test(self, module, timeout):
        gpu, model = module.split(":")
        self.results.mkdir(parents=True, exist_ok=True)
        status, text = run(self.command("compare.py", "--gpu", gpu, *self.options(module), "--models", model), dict(os.environ), timeout)
        failed = re.findall(r"^FAILED (.*)", text, re.M)
        if status is None:
            failed.append(f"{module}: no end within {timeout} s")
        return dict(module=module, text=text, whys={}, names=dict(failed=failed), failed=len(failed), passed=len(re.findall(r"^passed", text, re.M)))

    def finish(self):
        """The chapter's tables. The scan of the library takes minutes."""
        costs, scan = self.work / "costs.json", self.work / "scan.json"
        subprocess.run(self.command("costs.py", "--json", str(costs)), check=True)
        library = next(self.work.glob("node_modules/@node-llama-cpp/linux-x64-cuda/bins/*/libggml-cuda.so"))
        subprocess.run([self.build / "bin/warpgrind", "scan", "--json", scan, library], stdout=subprocess.DEVNULL, check=True)
        subprocess.run([sys.executable, self.folder / "document.py", "--results", self.results, "--costs", costs, "--scan", scan], check=True)


class Whisper(Llama):
    """whisper.cpp of npm: tests/clients/whisper/compare.py in the same way. It needs a libnccl.so.2."""

    name = "whisper.cpp"
    what = "transcripts of random models"
    folder = ROOT / "tests/clients/whisper"
    package = "@fugood/whisper.node"

    def options(self, module):
        return []

    def finish(self):
        pass


class NcclTests:
    """NVIDIA's nccl-tests, as tests/clients/nccl_tests/programs.py runs them, built in the folder of --nccl-tests or $WARPGRIND_NCCL_TESTS."""

    name = "nccl-tests"
    script = ROOT / "tests/clients/nccl_tests/programs.py"

    def __init__(self, build):
        self.build = build

    def version(self):
        """That of the programs, in the banner of their binaries; None: they are not here."""
        found = sorted(pathlib.Path(os.environ.get("WARPGRIND_NCCL_TESTS") or "/nonexistent").glob("*_perf"))
        if not found:
            print(subprocess.run([sys.executable, self.script, "warpgrind"], capture_output=True, text=True).stdout.strip())
            return None
        version = re.search(rb"\0(\d+\.\d+\.\d+)\0", found[0].read_bytes())
        return version[1].decode() if version else "unknown"

    def suites(self):
        runs = subprocess.run([sys.executable, self.script, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [(f"all types and operations, {run.split(' ', 1)[1]}", run) for run in runs]

    def test(self, module, timeout):
        program, ranks = module.split(" ", 1)
        command = [sys.executable, str(self.script), str(self.build / "bin/warpgrind"), "--programs", program, f"--ranks={ranks}",
                   "--seconds", str(timeout)]
        _, text = run(command, dict(os.environ), timeout + 30)
        failed = re.findall(r"^FAILED (.*)", text, re.M)
        whys = collections.Counter(re.findall(r"^skipped (\w+ [^:]*: .*)", text, re.M))
        return dict(module=module, text=text, whys=dict(whys), names=dict(failed=failed), failed=len(failed), skipped=sum(whys.values()),
                    passed=len(re.findall(r"^passed", text, re.M)))


CLIENTS = {"hashcat": Hashcat, "llama": Llama, "whisper": Whisper, "nccl-tests": NcclTests, "numba": Numba, "numba-cuda": NumbaCuda, "numba-cuda-alone": NumbaCudaAlone,
           "cupy": Cupy, "triton": Triton}


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


def cell(text):
    return str(text).replace("|", "\\|")


def table(columns, alignment, rows):
    return ["| " + " | ".join(columns) + " |", f"|{alignment}|", *("| " + " | ".join(map(cell, row)) + " |" for row in rows)]


def write(rows):
    """The store, and the document made from it."""
    (ROOT / "docs/clients.json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = table(COLUMNS, "---|---|---|--:|--:|--:|---",
                  ([row[key] for key in KEYS] + [" ".join(row.get("reasons", []))] for row in rows))
    skipped = [(row["client"], row["what"], count, reason or "no reason given")
               for row in rows for reason, count in row.get("skipped_for", {}).items()]
    if skipped:
        lines += ["", "Skipped tests, with the reasons that the tests give:", ""]
        lines += table(("client", "suite", "tests", "reason"), "---|---|--:|---", skipped)
    failed = [(row["client"], one) for row in rows for one in row.get("failed_tests", [])]
    if failed:
        lines += ["", "Failed tests:", ""] + [f"- {client}: `{one}`" for client, one in failed]
    document = ROOT / "docs/clients.md"
    text = document.read_text()
    begin, end = (text.index(mark) for mark in MARKS)
    document.write_text(text[:begin] + MARKS[0] + "\n" + "\n".join(lines) + "\n" + text[end:])


def merged(rows, new):
    """Replaces the rows of these clients by the new ones; notes written by hand stay."""
    reasons = {(row["client"], row["what"]): row["reasons"] for row in rows}
    for row in new:
        row["reasons"] = reasons.get((row["client"], row["what"]), row["reasons"])
    clients = {row["client"] for row in new}
    return [row for row in rows if row["client"] not in clients] + new


def rows_of(client, version, arguments, end):
    """Runs the suites of a client; returns a row for each group. end: deadline of the last one (time.monotonic())."""
    def run_one(module):
        left = end - time.monotonic()
        out = "left out by --without" if arguments.without and arguments.without in module else "no time was left" if left < 1 else ""
        if out:
            return dict(module=module, text="", whys={out: 1}, names=dict(failed=[]), skipped=1)
        return client.test(module, min(arguments.timeout, int(left)))

    groups = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = {pool.submit(run_one, module): what for what, module in client.suites()
                   if not arguments.only or arguments.only in module}
        for one in concurrent.futures.as_completed(waiting):
            result = one.result()
            groups.setdefault(waiting[one], []).append(result)
            print(*(f"{result.get(key, 0):4} {key}" for key in ("passed", "failed", "skipped")), result["module"], flush=True)
            if arguments.logs:
                arguments.logs.mkdir(parents=True, exist_ok=True)
                (arguments.logs / f"{result['module']}.txt").write_text(result["text"])
    order = list(dict.fromkeys(waiting.values()))
    name = f"{client.name}, real GPU" if arguments.native else client.name
    return [row_of(name, version, what, groups[what], []) for what in order]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", default=[], choices=[[], *CLIENTS])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--native", action="store_true", help="numba-cuda on the GPU of this machine; no document is written")
    parser.add_argument("--only", help="modules with this in their names; nothing is written then")
    parser.add_argument("--without", help="modules with this in their names are left out: test_managed_alloc takes half of the GPU's memory")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300, help="seconds for each module")
    parser.add_argument("--limit", type=int, default=10**9, help="seconds for everything")
    parser.add_argument("--rows", type=pathlib.Path, help="file for the rows, instead of the document")
    parser.add_argument("--take", type=pathlib.Path, help="file of --rows whose rows are taken over; nothing is run")
    parser.add_argument("--nccl-tests", type=pathlib.Path, help="folder of the built programs of nccl-tests ($WARPGRIND_NCCL_TESTS)")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for the output of each module")
    arguments = parser.parse_args()
    store = ROOT / "docs/clients.json"
    rows = json.loads(store.read_text()) if store.exists() else []
    if arguments.take:
        write(merged(rows, json.loads(arguments.take.read_text())))
        return 0
    NumbaCuda.native = arguments.native
    if arguments.nccl_tests:
        os.environ["WARPGRIND_NCCL_TESTS"] = str(arguments.nccl_tests.resolve())
    end = time.monotonic() + arguments.limit
    new = []
    for name in arguments.clients or CLIENTS:
        client = CLIENTS[name](arguments.build.resolve())
        version = client.version()
        if not version:
            print(f"{client.name}: not on this machine, its rows stay as they are")
            continue
        new += rows_of(client, version, arguments, end)
        if hasattr(client, "finish") and not arguments.only and not arguments.rows:
            client.finish()
        for row in new:
            print(f"{row['client']} {row['what']}: {row['passed']} passed, {row['failed']} failed, {row['skipped']} skipped")
    if arguments.rows:
        arguments.rows.write_text(json.dumps(new, indent=1) + "\n")
    elif not arguments.only and not arguments.native:
        write(merged(rows, new))
    return 0


if __name__ == "__main__":
    sys.exit(main())
