#!/usr/bin/env python3
"""On a machine with a GPU: what compute-sanitizer's tools say of the cases, as a table (compute_sanitizer.csv).

  compute_sanitizer.py --programs build/tests/check --output tests/check/compute_sanitizer.csv [--logs FOLDER] [ID|AREA]...

Several run at once; those that may not end (hangs_on_gpu) come last, few at a time, since a kernel that does not end takes
time from the others. A row that the file has already is kept, and run again only when its id is named.
"""
import argparse
import concurrent.futures
import csv
import datetime
import os
import pathlib
import re
import signal
import subprocess

import expectations

TOOLS = {
    "plain": None,
    "memcheck": ["--leak-check", "full", "--track-stream-ordered-races", "all"],
    "racecheck": ["--racecheck-report", "all"],
    "initcheck": [],
    "synccheck": [],
}
COLUMNS = ("id", "tool", "verdict", "report")
# What is looked for in one case only.
MORE_OPTIONS = {("C089", "initcheck"): ["--track-unused-memory"]}
FOUND = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?)")


def first_lines(text):
    """Kind and place of the first report."""
    lines = [line.removeprefix("=========").strip() for line in text.splitlines() if line.startswith("=========")]
    lines = [line for line in lines if line and not line.startswith(("COMPUTE-SANITIZER", "Saved host", "Host Frame"))]
    return " / ".join(lines[:2])


def verdict_of(text, ended, code):
    found = [sum(int(n or 0) for n in m.groups()) for m in FOUND.finditer(text)]
    if sum(found) or (not ended and re.search(r"^========= (Error|Warning|Invalid|Barrier|Uninit|Program hit)", text, re.M)):
        return "found"
    if not ended:
        return "hang"
    return "silent" if found and code >= 0 else "error"


def run(args, e, tool):
    program = [str(args.programs / e.area), e.case]
    options = TOOLS[tool]
    if options is not None:
        options = options + MORE_OPTIONS.get((e.case, tool), [])
        program = [args.sanitizer, "--tool", tool, *options, "--print-limit", "20", *program]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, start_new_session=True) as child:
        ended = True
        try:
            text, _ = child.communicate(timeout=args.timeout)
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(child.pid, signal.SIGKILL)  # the tool's child too
            text, _ = child.communicate()
    if args.logs:
        (args.logs / f"{e.case}.{tool}.txt").write_text(text)
    if tool == "plain":
        verdict = "ends" if ended and child.returncode == 0 else "hang" if not ended else "error"
        report = f"exit code {child.returncode}" if verdict == "error" else ""
    else:
        verdict, report = verdict_of(text, ended, child.returncode), first_lines(text)
        if verdict == "silent":
            report = ""
        if verdict == "found" and not ended:
            report += " / and no end"
    return {"id": e.case, "tool": tool, "verdict": verdict, "report": report}


def output_of(command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def header(args):
    version = re.search(r"Version (\S+)", output_of([args.sanitizer, "--version"]))
    gpu = output_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).strip()
    options = "; ".join(f"{tool} {' '.join(o)}".strip() for tool, o in TOOLS.items() if o is not None)
    more = "; ".join(f"{case}: {tool} {' '.join(o)}" for (case, tool), o in MORE_OPTIONS.items())
    return (f"# compute-sanitizer {version[1] if version else '?'}, {gpu} (driver), {datetime.date.today()}\n"
            f"# compute-sanitizer --tool TOOL --print-limit 20 AREA ID: {options}; {more}; {args.timeout} s each\n")


def read_rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def write_rows(path, head, rows):
    with open(path, "w", newline="") as f:
        f.write(head)
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--logs", type=pathlib.Path, help="folder for whole outputs")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--timeout", type=int, default=20, help="seconds a run")
    parser.add_argument("--jobs", type=int, default=12, help="at once")
    parser.add_argument("which", nargs="*", help="ids or areas to run again; otherwise what the file lacks")
    args = parser.parse_args()
    if args.logs:
        args.logs.mkdir(parents=True, exist_ok=True)
    rows = {}
    if args.output.exists():
        rows = {(r["id"], r["tool"]): r for r in read_rows(args.output)}
    cases = expectations.read_all().values()
    wanted = [(e, tool) for e in cases for tool in TOOLS
              if ({e.case, e.area} & set(args.which) if args.which else (e.case, tool) not in rows)]
    head = header(args)
    for hangs, jobs in ((False, args.jobs), (True, max(1, args.jobs // 4))):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = [pool.submit(run, args, e, tool) for e, tool in wanted if e.hangs == hangs]
            for done in concurrent.futures.as_completed(runs):
                row = done.result()
                rows[row["id"], row["tool"]] = row
                write_rows(args.output, head, rows)
    print(head, end="")
    for tool in TOOLS:
        verdicts = [r["verdict"] for r in rows.values() if r["tool"] == tool]
        print(tool, {v: verdicts.count(v) for v in sorted(set(verdicts))})


if __name__ == "__main__":
    main()
