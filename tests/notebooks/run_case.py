#!/usr/bin/env python3
"""Runs a case of the notebooks' tests: a notebook of integrations/notebooks, whose outputs are checked, or a script NAME_test.py of this folder.

  run_case.py --list
  run_case.py --build BUILD CASE [--show]

Exit status 77: a module that the case needs is not installed. WARPGRIND_NOTEBOOK_PYTHON may name the Python."""
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
ROOT = HERE.parents[1]
SKIPPED = 77
TIMEOUT = 300  # seconds
JUPYTER = ["nbclient", "ipykernel", "nbformat"]

# want: expressions that the outputs' texts have, in this order. pictures, tables, findings: how many the outputs have at least.
NOTEBOOKS = {
    "1-tiled-multiplication": dict(
        want=[r"clock 1.85 GHz, 384 bits: 177.6 GB/s", r"21.6 GFLOPS", r"GB/s", "PASS", r"multiply: .*load sectors / request 2", r"CGMA 1.00", "PASS",
              r"predicted 16, counted 15.52", r"times as fast", r"global load requests +1,048,576 to +65,536",
              r"warpgrind check: [1-9]\d* errors", "oob-global-read"],
        pictures=2, tables=6, findings=3),
    "2-memory-access": dict(
        want=[r"132.0 GiB/s, or 141.7 GB/s", r"offset  0: 4 sectors", r"offset  1: 5 sectors", r"offset  8: 4 sectors",
              r" 0     1,024     1,024     2,048\n +1    16,384     1,536     2,560", r"stride  2:    8 sectors.* 50.0 %", r"stride 32:   32 sectors",
              "PASS", r"store sectors / request 32", "PASS", r"bank conflicts 253,952", r"global store sectors / request +32 to +4 .*better",
              r"32 passes through the banks", "PASS", r"1 pass through the banks", r"bank conflicts +253,952 to +0 .*better",
              r"pageable +6.0 GB/s", r"pinned +12.0 GB/s", r"16 sectors \(ideal 4\)"],
        pictures=8, tables=5, findings=0),
    "3-multiplication-and-poisson": dict(
        want=["4,194,304 operations", "PASS\nPASS", r"one_thread .*CGMA 0.5", r"in_memory .*CGMA", "PASS\nPASS\nPASS", r"in_register .*CGMA 1.00",
              r"four .*CGMA 1.59", r"global load requests +131,072 to +81,920", "PASS", r"in_tiles .*CGMA 28.44", "1 pass through the banks",
              "in the middle: 0.00025 after 10 steps", r"0.125 operations per byte.*predicted 0.125", "9 sectors", "nothing changed"],
        pictures=3, tables=4, findings=0),
    "4-counting-tiles": dict(
        want=["442,368 load requests", "tile 16: PASS", "counted 442,368, predicted 442,368: equal", "tile 8: PASS", "tile 32: PASS",
              r"W =  8: counted    55,296, predicted    55,296, 4 sectors each", r"W = 16: counted    27,648", r"W = 32: counted    13,824",
              "tiled<8>", "4 sectors .ideal 4. in 4 lines", "4 sectors .ideal 4. in 1 line", "race-shared", r"missing: __syncthreads\(\) between line 14"],
        pictures=3, tables=1, findings=1),
    "5-reduction": dict(
        want=["oob-global-read", "neighbours   PASS", "neighbours: ", "strided      PASS", "halves       PASS", "bank conflicts +46,080 to +0 .*better",
              "last_warp    PASS", "race-warp", "shuffles 8   PASS", r"neighbours .* 49,152 +0", r"strided .* 6,144 +46,080", r"shuffles<8> .* 1,280 +0",
              "times as fast", "mine         PASS"],
        pictures=1, tables=4, findings=4),
}
# The other cases: scripts, and the modules that they need.
SCRIPTS = {"objects": [], "frames": ["pandas"], "magics": ["IPython"], "interrupt": ["IPython"], "wheel": ["pip"]}


def has(python, module):
    """Without importing it, which takes half a second of some."""
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def find_python(modules):
    """Debian's packages belong to Debian's Python; `python3` may be another one."""
    for python in (os.environ.get("WARPGRIND_NOTEBOOK_PYTHON"), "/usr/bin/python3", shutil.which("python3")):
        if python and os.access(python, os.X_OK) and all(has(python, m) for m in modules):
            return python
    return None


def execute(python, name, folder, environment):
    """Executes a copy of the notebook in `folder`. Returns its cells' outputs, or None and the error."""
    code = ("import sys, nbformat\nfrom nbclient import NotebookClient\n"
            "book = nbformat.read(sys.argv[1], 4)\n"
            "try: NotebookClient(book, timeout=200, kernel_name='tested').execute()\n"
            "finally: nbformat.write(book, sys.argv[2])\n")
    kernel = folder / "kernels/tested"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({"argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "tested",
                                                    "language": "python"}))
    source, result = ROOT / f"integrations/notebooks/{name}.ipynb", folder / "executed.ipynb"
    given = json.loads(source.read_text(encoding="utf-8"))
    if any(cell.get("outputs") or cell.get("execution_count") for cell in given["cells"]):
        return None, f"{source.name} has outputs: they are not committed"
    ended = subprocess.run([python, "-c", code, str(source), str(result)], cwd=folder, env=dict(environment, JUPYTER_PATH=str(folder)), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
    if ended.returncode != 0:
        return None, ended.stdout
    return json.loads(result.read_text(encoding="utf-8"))["cells"], ""


def outputs_of(cells):
    """(texts, HTML) of all outputs, joined"""
    texts, pages = [], []
    for cell in cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            texts.append("".join(output.get("text", data.get("text/plain", ""))))
            pages.append("".join(data.get("text/html", "")))
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts), "".join(pages)


def missing_in(text, wanted):
    """The first expression that is not in the text behind the one before it."""
    at = 0
    for expression in wanted:
        match = re.compile(expression).search(text, at)
        if match is None:
            return expression
        at = match.end()
    return None


def notebook(python, name, folder, environment):
    case = NOTEBOOKS[name]
    cells, error = execute(python, name, folder, environment)
    if cells is None:
        return error, ["it did not run to its end"]
    text, page = outputs_of(cells)
    lost = missing_in(text, case["want"])
    wrong = [f"not shown: {lost}"] if lost else []
    for what, mark in (("pictures", "<svg"), ("tables", "<table"), ("findings", "border-left:3px")):
        if page.count(mark) < case[what]:
            wrong.append(f"{page.count(mark)} {what}, not {case[what]}")
    wrong += [f"the page loads {address}" for address in re.findall(r'(?:src|href)="(http[^"]*)"', page)]
    return text, wrong


def script(python, name, folder, environment):
    ended = subprocess.run([python, str(HERE / f"{name}_test.py")], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=TIMEOUT, check=False)
    return ended.stdout, [] if ended.returncode == 0 else [f"{name}_test.py ended with {ended.returncode}"]


def environment_of(build, folder):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("WARPGRIND", "JUPYTER", "IPYTHON"))}
    return dict(keep, PYTHONPATH=str(ROOT / "integrations/python"), PYTHONDONTWRITEBYTECODE="1", PYDEVD_DISABLE_FILE_VALIDATION="1",
                WARPGRIND=str(build / "bin/warpgrind"), XDG_CACHE_HOME=str(folder / "cache"), IPYTHONDIR=str(folder / "ipython"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--show", action="store_true", help="prints the output of a good case, too")
    parser.add_argument("case", nargs="?", choices=[*NOTEBOOKS, *SCRIPTS])
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join([*NOTEBOOKS, *SCRIPTS]))
        return 0
    needs = SCRIPTS.get(arguments.case, JUPYTER)
    python = find_python(needs)
    if python is None:
        print(f"skipped: no Python here has {' and '.join(needs)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = notebook if arguments.case in NOTEBOOKS else script
        text, wrong = run(python, arguments.case, folder, environment_of(arguments.build.resolve(), folder))
    if wrong or arguments.show:
        print(text)
    print("\n".join(wrong) or "good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
