#!/usr/bin/env python3
"""The scripts of tests/clients/numba with numba-cuda, as run_script.py has them run with Debian's Numba.

  run_scripts.py --build BUILD [--python PYTHON] [--native] [NAME ...]

--native: on the GPU of this machine, where scripts check their results alone (`# check` has no meaning there). What a script prints
is printed, so that the two can be compared. Exit status 77: the Python has no numba-cuda."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parent / "numba"
sys.path.insert(0, str(HERE.parent))
import run_script  # noqa: E402


def environment():
    """numba.cuda is numba-cuda's (sitecustomize.py); its remarks on small grids are not what is tested."""
    folders = [str(HERE), os.environ.get("PYTHONPATH")]
    return dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, folders)), PYTHONWARNINGS="ignore")


def outputs_missing(lines, text):
    printed = text.splitlines()
    return [f"not printed: {line[9:]}" for line in lines if line.startswith("# output ") and line[9:] not in printed]


def problems_of(script, arguments, folder):
    """Problems of a run, and its output."""
    lines = script.read_text().splitlines()
    checking = "# check" in lines
    json_file = pathlib.Path(folder, script.stem + ".json")
    under = [str(arguments.build.resolve() / "bin/warpgrind")]
    under += ["check"] if checking else ["run", "--quiet", "--detail", "--json", str(json_file)]
    ended = subprocess.run(([] if arguments.native else under) + [arguments.python, str(script)], env=environment(), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=run_script.TIMEOUT, check=False)
    if arguments.native:
        wrong = [f"ended with {ended.returncode}"] if ended.returncode else []
        return wrong + outputs_missing(lines, ended.stdout), ended.stdout
    profile = json.loads(json_file.read_text()) if json_file.exists() else {}
    return list(run_script.problems(script, profile, ended.stdout, ended.returncode, checking)), ended.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--python", default=os.environ.get("WARPGRIND_NUMBA_CUDA_PYTHON", "python3"))
    parser.add_argument("--native", action="store_true")
    parser.add_argument("names", nargs="*", help="of scripts; none: all")
    arguments = parser.parse_args()
    found = subprocess.run([arguments.python, "-c", "import numba_cuda"], env=environment(), capture_output=True, check=False)
    if found.returncode != 0:
        print(f"skipped: {arguments.python} has no numba-cuda")
        return run_script.SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted(SCRIPTS.glob("*.py")):
            lines = script.read_text().splitlines()
            if (arguments.names and script.stem not in arguments.names) or (arguments.native and "# check" in lines):
                continue
            wrong, text = problems_of(script, arguments, folder)
            failed += bool(wrong)
            print(f"{script.stem}: {'; '.join(wrong) or 'good'}")
            print("".join(f"  {line}\n" for line in text.splitlines() if wrong or not line.startswith("warpgrind")), end="", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
