"""The history of the benchmark: one line of JSON for each record (history.jsonl). docs/speed.md is made of it, openmp.csv and counting.csv."""
import datetime
import json
import os
import pathlib
import subprocess

import counting
import openmp
from parts import goals, number

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY, DOCUMENT = ROOT / "bench/history.jsonl", ROOT / "docs/speed.md"
# Columns of the table of all records: the figure, and its head.
COLUMNS = (("pocl.mm.1", "naive"), ("pocl.mmt.1", "tiled"), ("pocl.reduce.1", "reduction"), ("pocl.transpose.1", "transpose"),
           ("pocl.jacobi.1", "Jacobi"), ("pocl.vecadd.1", "addition"), ("launch.stream", "launch, us"),
           ("launch.synchronized", "and wait, us"), ("start.none", "start, ms"))


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} CPUs"


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip()


def record(figures, load):
    """Appends what was measured; what was not is not there."""
    line = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(), "load": round(load, 1),
            "figures": {k: float(f"{v:.4g}") for k, v in figures.items() if v is not None}}
    with open(HISTORY, "a") as file:
        file.write(json.dumps(line) + "\n")


def records():
    return [json.loads(line) for line in HISTORY.read_text().splitlines()] if HISTORY.exists() else []


def latest(all_records):
    """{figure: (value, record)} of each figure's last record."""
    return {name: (value, r) for r in all_records for name, value in r["figures"].items()}


def document(all_records):
    now = latest(all_records)
    out = ["# Speed", "",
           "Made by `make bench BENCH_ARGS=--record` from `bench/history.jsonl`; do not edit. All counters and bounds checks are on where "
           "nothing else is said. PoCL, which runs OpenCL on the same threads, counts and checks nothing.", "",
           "## Now, against the goals", "", "| what | now | goal | unit | met | measured |", "|---|---|---|---|---|---|"]
    for name, (title, unit, goal, less) in goals().items():
        if name not in now:
            continue
        value, r = now[name]
        met = "" if goal is None else "yes" if (value <= goal if less else value >= goal) else "no"
        out.append(f"| {title} | {number(value, 0)} | {'' if goal is None else goal} | {unit} | {met} | {r['commit']}, {r['date']} |")
    out += ["", "## History", "", "Multiples of PoCL on one thread, and what a launch and a start take. `load`: what else ran on the "
            "machine; figures taken beside other work are too low.", "",
            "| date | commit | machine | load | " + " | ".join(head for _, head in COLUMNS) + " |",
            "|---" * (4 + len(COLUMNS)) + "|"]
    for r in all_records:
        cells = [number(r["figures"].get(name), 0) for name, _ in COLUMNS]
        out.append(f"| {r['date']} | {r['commit']} | {r['machine']} | {r['load']} | " + " | ".join(cells) + " |")
    return "\n".join(out + [""] + openmp.section() + [""] + counting.section()) + "\n"


def write_document():
    DOCUMENT.write_text(document(records()))
