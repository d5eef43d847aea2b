#!/usr/bin/env python3
"""Holds what warpgrind prints about profile files against expected-output files.

  run_report.py --list                    the names of all cases, one a line
  run_report.py --build DIR NAME          runs one; exit code 0 passed, 1 failed
  run_report.py --build DIR --rewrite [NAME]   writes what comes out now into the case files: look at the difference

A case is a file cases/NAME.txt: lines "$ warpgrind ...", run in this folder, each followed by what it prints (standard output,
then standard error with "2> " before each line) and, if it is not 0, "exit CODE". {out} is an empty folder. What depends on
the machine is replaced: times of day, the host's name, this folder. Lines of standard output may have 80 columns, apart from
sources and files written to it with "-"; codes for colours must not occur.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 80


def normalised(text, out):
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "{time}", text)
    text = text.replace(str(HERE), "{here}").replace(out, "{out}")
    return text.replace(f'hostname="{socket.gethostname()}"', 'hostname="{host}"')


def run_line(line, build, out, problems):
    words = shlex.split(line.replace("{out}", out))
    assert words[0] == "warpgrind", line
    done = subprocess.run([str(build / "bin/warpgrind")] + words[1:], cwd=HERE, capture_output=True, text=True, timeout=1400,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, TERM="xterm"))
    if "\033" in done.stdout + done.stderr:
        problems.append(f"{line}: an escape code where no terminal is")
    if " - " not in line + " " and "--source" not in line:
        problems += [f"{line}: more than {WIDTH} columns: {wide!r}" for wide in done.stdout.splitlines() if len(wide) > WIDTH]
    text = normalised(done.stdout, out)
    if text and not text.endswith("\n"):
        text += "\n"
    text += "".join(f"2> {error}\n" for error in normalised(done.stderr, out).splitlines())
    return text + (f"exit {done.returncode}\n" if done.returncode else "")


def check_files(out, problems):
    """Properties that a reader of the format relies on, apart from its schema."""
    for path in pathlib.Path(out).iterdir():
        if path.suffix == ".xml":
            for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
                cases = suite.findall("testcase")
                failed = [c for c in cases if c.find("failure") is not None]
                if (int(suite.get("tests")), int(suite.get("failures"))) != (len(cases), len(failed)):
                    problems.append(f"{path.name}: {suite.attrib} does not count its test cases")
        if path.suffix == ".sarif":
            for part in json.loads(path.read_text())["runs"]:
                rules = {r["id"] for r in part["tool"]["driver"]["rules"]}
                for result in part["results"]:
                    if result["ruleId"] not in rules or result["level"] not in ("error", "warning", "note"):
                        problems.append(f"{path.name}: {result}")
                    for place in result.get("locations", []) + result.get("relatedLocations", []):
                        place = place.get("physicalLocation")
                        if place and (place["region"]["startLine"] < 1 or " " in place["artifactLocation"]["uri"]):
                            problems.append(f"{path.name}: {place}")


def run(path, build, rewrite):
    want, got, problems = path.read_text(), "", []
    with tempfile.TemporaryDirectory(prefix="warpgrind-test-") as out:
        for line in want.splitlines():
            if line.startswith("# "):
                got += line + "\n"
            if line.startswith("$ "):
                got += line + "\n" + run_line(line[2:], build, out, problems)
        check_files(out, problems)
    assert "$ " in got, f"{path}: no command"
    if rewrite:
        path.write_text(got)
    elif got != want:
        problems.append("".join(difflib.unified_diff(want.splitlines(True), got.splitlines(True), str(path), "now")))
    for problem in problems:
        print("FAILED:", problem)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    paths = sorted((HERE / "cases").glob("*.txt"))
    if args.list:
        print("\n".join(p.stem for p in paths))
        return 0
    chosen = [p for p in paths if args.name in (None, p.stem)]
    if not chosen:
        parser.error(f"no case {args.name!r}")
    return 0 if all([run(p, args.build.resolve(), args.rewrite) for p in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
