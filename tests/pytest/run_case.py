#!/usr/bin/env python3
"""Runs a case of the pytest plugin: a session of pytest over files of samples/, its exit code and what it prints.

  run_case.py --list
  run_case.py --build BUILD CASE [--show]

Exit status 77: pytest, or what the case needs, is not installed. WARPGRIND_PYTEST_PYTHON may name the Python."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "integrations/python"
SKIPPED = 77
TIMEOUT = 300  # seconds

# arguments: of pytest. command: the whole command, in place of pytest; {python}, {warpgrind}. exit: the code (0). want, never:
# expressions that the output has, and has not. needs: modules. no_gpu: it is of a machine without one.
CASES = {
    "profile": dict(arguments=["--warpgrind", "-rsf", "--junitxml=/dev/stdout", "test_counts.py", "test_marker.py", "test_processes.py"],
                    exit=1,
                    want=["4 failed, 9 passed, 1 skipped", "virtual h200", "kernels ran in 12 of 14 tests",
                          "FAILED test_counts.py::test_strided_is_not_coalesced - assert",
                          r"strided +32 sectors is not <= 4", 'no kernel called "copy" ran; there ran strided',
                          r"no metric is called .tme.", "needs --warpgrind-gpu a100; this session models h200",
                          r"strided +6 launches in 6 tests", r"no kernel ran:\n  test_marker.py::test_launches_nothing\n",
                          '<testcase classname="test_marker" name="test_required_kernel_is_missing"[^>]*><failure message="warpgrind: '
                          "a condition of the marker does not hold"]),
    "findings": dict(arguments=["--warpgrind-check", "test_findings.py", "test_processes.py"], exit=1,
                     want=["4 failed, 7 passed, 1 xfailed, 1 error", "FAILED test_findings.py::test_race\n",
                           "FAILED test_findings.py::test_same_race_again\n", "FAILED test_findings.py::test_outside",
                           "ERROR test_findings.py::test_race_in_teardown", "FAILED test_processes.py::test_race_in_child",
                           r"race-shared: ERROR: .*\n  kernel race\n  at PTX line \d+",
                           "oob-global-write: ERROR: .*past the end of a 128-byte allocation", r"warpgrind check: \d+ errors, 0 warnings"],
                     never=["FAILED.*(clean|allowed|after_all)"]),
    "xdist": dict(arguments=["-n", "2", "--warpgrind-check", "test_findings.py", "test_processes.py"], exit=1, needs=["xdist"],
                  want=["4 failed, 7 passed, 1 xfailed, 1 error", "race     6 launches in 6 tests", "strided  1 launch in 1 test"]),
    "faults": dict(arguments=["--warpgrind", "test_findings.py", "-k", "outside or after_all"], exit=1,
                   want=["1 failed, 1 passed", "FAILED test_findings.py::test_outside", "illegal address: ERROR", "kernel copy"]),
    "suppressed": dict(arguments=["--warpgrind-check", "--warpgrind-suppress", "races.json", "test_findings.py", "-k",
                                  "race and not teardown"],
                       want=["2 passed", "2 suppressed"]),
    "numba": dict(arguments=["--warpgrind", "test_numba.py"], exit=1, needs=["numba.cuda"],
                  want=["1 failed, 1 passed", 'no kernel called "halve" ran; there ran .*double']),
    "without": dict(no_gpu=True, arguments=["-rs", "test_marker.py", "test_counts.py", "test_host_only.py"],
                    want=["1 passed, 11 skipped", "needs a GPU: there is none; --warpgrind runs it on a virtual one",
                          "needs the profile of the virtual GPU: --warpgrind"], never=["kernels ran"]),
    "no_cuda": dict(arguments=["--warpgrind", "--noconftest", "-s", "test_output.py"],
                    want=["1 passed", "kernels ran in 0 of 1 test", "printed by Python", "written to the descriptor"], never=["error:"]),
    "no_cuda_checked": dict(arguments=["--warpgrind-check", "--noconftest", "--capture=sys", "test_output.py"],
                            want=["1 passed", "kernels ran in 0 of 1 test", "written to the descriptor"],
                            never=["error:", "printed by Python"]),
    "run_options": dict(arguments=["--warpgrind", "--warpgrind-args=--gpu a100 --no-caches", "test_marker.py", "-k", "gpu"],
                        want=["1 passed, 1 skipped", "virtual a100"]),
    "missing_program": dict(arguments=["--warpgrind", "--warpgrind-program", "/nowhere/warpgrind", "test_host_only.py"], exit=4,
                            want=["^ERROR: --warpgrind: the program warpgrind was not found: /nowhere/warpgrind is no program"],
                            never=["Traceback"]),
    "bad_suppressions": dict(arguments=["--warpgrind-check", "--warpgrind-suppress", "gpu.py", "test_host_only.py"], exit=2,
                             want=["gpu.py: not a file of suppressions"]),
    "wrong_marker": dict(arguments=["test_wrong_marker.py"], exit=4,
                         want=["test_nothing: the marker warpgrind does not take 'copy', require_kernel; it takes expect="]),
    "calls_main": dict(command=["{python}", "calls_main.py"], exit=4, want=["start the whole program under `warpgrind run`"]),
    "under_run": dict(command=["{warpgrind}", "run", "--quiet", "{python}", "calls_main.py"],
                      want=["1 passed", "kernels ran in 0 of 1 test"]),
    "sections": dict(command=["{warpgrind}", "run", "--quiet", "{python}", "sections.py"], want=["^good$"]),
    "installed": dict(needs=["pip", "setuptools", "wheel"]),
}


def has(python, module):
    """Without importing it, which takes half a second of some."""
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def find_python():
    """Debian's packages belong to Debian's Python; `python3` may be another one."""
    for python in (os.environ.get("WARPGRIND_PYTEST_PYTHON"), "/usr/bin/python3", shutil.which("python3")):
        if python and has(python, "pytest"):
            return python
    return None


def installed(python, folder, environment):
    """Installs the package, so that pytest finds the plugin by itself."""
    source = folder / "source"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "--quiet",
                           "--target", str(folder / "site"), str(source)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        return done.stdout, [f"pip ended with {done.returncode}"]
    environment["PYTHONPATH"] = str(folder / "site")
    return run(dict(command=["{python}", "-m", "pytest", "-p", "no:cacheprovider", "--warpgrind", "test_marker.py", "-k", "hold"],
                    want=["1 passed", "plugins:.*warpgrind", "kernels ran in 1 of 1 test"]), python, folder, environment)


def run(case, python, folder, environment):
    plugin = ["-p", "warpgrind_pytest.plugin", "-p", "no:cacheprovider"]
    command = case.get("command") or ["{python}", "-m", "pytest", *plugin, *case["arguments"]]
    command = [word.format(python=python, warpgrind=environment["WARPGRIND"]) for word in command]
    ended = subprocess.run(command, cwd=folder / "samples", env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=TIMEOUT, check=False)
    wrong = [] if ended.returncode == case.get("exit", 0) else [f"ended with {ended.returncode}"]
    wrong += [f"not printed: {text}" for text in case.get("want", []) if not re.search(text, ended.stdout, re.MULTILINE)]
    wrong += [f"printed: {text}" for text in case.get("never", []) if re.search(text, ended.stdout, re.MULTILINE)]
    return ended.stdout, wrong


def environment_of(build):
    toolkit = build / "toolkit"
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "WARPGRIND"))}
    return dict(keep, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1", WARPGRIND=str(build / "bin/warpgrind"), CUDA_HOME=str(toolkit),
                NUMBA_CUDA_DRIVER=str(toolkit / "driver12/libcuda.so.1"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--show", action="store_true", help="prints the output of a good case, too")
    parser.add_argument("case", nargs="?", choices=list(CASES))
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(CASES))
        return 0
    case = CASES[arguments.case]
    python = find_python()
    missing = "pytest" if python is None else " or ".join(m for m in case.get("needs", []) if not has(python, m))
    if case.get("no_gpu") and pathlib.Path("/dev/nvidiactl").exists():
        print("skipped: there is a GPU here")
        return SKIPPED
    if missing:
        print(f"skipped: no Python here has {missing}")
        return SKIPPED
    environment = environment_of(arguments.build.resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(HERE / "samples", folder / "samples")
        execute = installed if arguments.case == "installed" else lambda *rest: run(case, *rest)
        text, wrong = execute(python, folder, environment)
    if wrong or arguments.show:
        print(text)
    print("\n".join(wrong) or "good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
