#!/usr/bin/env python3
"""The scripts of this folder on the virtual A100 and H200 (each for the machine language of its own), or with --gpu on a real GPU,
where they check their results alone. What else has to be is in their comments (../run_script.py).

  run_scripts.py --build BUILD [NAME...]
  run_scripts.py --gpu [NAME...]

Triton is looked for in $WARPGRIND_TRITON_PYTHON, or else in python3; it needs numpy beside, and no torch. Exit status 77: it is
not there."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import run_script  # noqa: E402  (beside this folder)

PYTHON = os.environ.get("WARPGRIND_TRITON_PYTHON") or shutil.which("python3") or "python3"
GPUS = ("a100", "h200")
SCRIPTS = ("vector_add", "softmax", "matmul", "layer_norm", "language", "beyond")
TIMEOUT = 1200  # seconds


def run(command, environment):
    return subprocess.run([str(word) for word in command], env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)


def virtual(script, build, gpu):
    """Output of a run, and its problems."""
    checking = "# check" in script.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile.json")
        command = [build / "bin/warpgrind"] + (["check"] if checking else ["run", "--detail", "--json", profile])
        ended = run(command + ["--gpu", gpu, PYTHON, script], dict(os.environ, TRITON_CACHE_DIR=folder))
        found = json.loads(profile.read_text()) if profile.exists() else {}
    return ended.stdout, list(run_script.problems(script, found, ended.stdout, ended.returncode, checking))


def real(script):
    if "# check" in script.read_text().splitlines():
        return "", []  # what it does wrong need not show
    ended = run([PYTHON, script], dict(os.environ))
    return ended.stdout, [f"ended with {ended.returncode}"] if ended.returncode else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--build", type=pathlib.Path)
    where.add_argument("--gpu", action="store_true", help="a real one")
    parser.add_argument("names", nargs="*", default=[], choices=[[], *SCRIPTS])
    arguments = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import numpy, triton"], capture_output=True, check=False).returncode != 0:
        print(f"skipped: {PYTHON} has no triton and numpy (WARPGRIND_TRITON_PYTHON may name another one)")
        return run_script.SKIPPED
    failed = False
    for name in arguments.names or SCRIPTS:
        script = HERE / f"{name}.py"
        for gpu in ("real",) if arguments.gpu else GPUS:
            text, wrong = real(script) if arguments.gpu else virtual(script, arguments.build.resolve(), gpu)
            if wrong:
                print(text)
            print(f"{name} on {gpu}:", "\n".join(wrong) or "good", flush=True)
            failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
