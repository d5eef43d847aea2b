"""The history of the benchmark: one line of JSON for each record (history.jsonl). docs/speed.md is made of it, openmp.csv and counting.csv."""
import json
import os
import pathlib
import re
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


def cpu():
    """Name, family and model of this machine's CPU."""
    facts = dict(line.split(":", 1) for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    name = re.sub(r"\((R|TM)\)| CPU| Processor| @.*", "", facts.get("model name", "unknown"))
    return f"{name}, family {facts.get('cpu family', '?')}, model {facts.get('model', '?')}"


def machine():
    return f"{cpu()}, {os.cpu_count()} CPUs"


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip()


def vectors(avx2=False):
    """The widest vectors that the measured code uses."""
    return "AVX-512" if not avx2 and "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text() else "AVX2"


def record(results):
    """Appends what was measured; what was not is not there."""
    line = {name: results[name] for name in ("date", "commit", "machine", "vectors")}
    line |= {"load": round(results["load"], 1), "figures": {k: float(f"{v:.4g}") for k, v in results["figures"].items() if v is not None}}
    with open(HISTORY, "a") as file:
        file.write(json.dumps(line) + "\n")


def records():
    return [json.loads(line) for line in HISTORY.read_text().splitlines()] if HISTORY.exists() else []


def kind(one):
    """The CPU of a record, without the number of its cores, and its vectors. The first records, of an EPYC, name no vectors."""
    return f"{one['machine'].split(',')[0]}, {one.get('vectors', 'AVX-512')}"


def latest(all_records):
    """{figure: (value, record)} of each figure's last record."""
    return {name: (value, r) for r in all_records for name, value in r["figures"].items()}


def multiples(kinds):
    """The table of the multiples of PoCL: a column for each kind of CPU, median and spread of pairs of runs."""
    rows = {name: goal for name, goal in goals().items() if name.startswith("pocl.")}
    out = ["## Multiples of PoCL on each CPU", "", "A run of the virtual GPU and one of PoCL take turns: the median of the pairs, the least and "
           "the greatest (not stored before 2026-11-30). *AVX2*: neither our C++ nor the JIT uses AVX-512. PoCL is always the same: its code "
           "is for skylake-avx512 on every CPU with AVX-512, which means vectors of 256 bits.", "",
           "| what | goal | " + " | ".join(kinds) + " |", "|---|--:|" + "--:|" * len(kinds)]
    for name, (title, _, goal, _) in rows.items():
        cells = []
        for now in kinds.values():
            value, least, most = (now.get(name + end, (None,))[0] for end in ("", ".least", ".most"))
            spread = least and now[name + ".least"][1] is now[name][1]
            cells.append("" if value is None else number(value, 0) + (f" ({number(least, 0)} to {number(most, 0)})" if spread else ""))
        if any(cells):
            out.append(f"| {title} | {goal} | " + " | ".join(cells) + " |")
    return out


def against_goals(now):
    out = ["| what | now | goal | unit | met | measured |", "|---|---|---|---|---|---|"]
    for name, (title, unit, goal, less) in goals().items():
        if name not in now:
            continue
        value, r = now[name]
        met = "" if goal is None else "yes" if (value <= goal if less else value >= goal) else "no"
        out.append(f"| {title} | {number(value, 0)} | {'' if goal is None else goal} | {unit} | {met} | {r['commit']}, {r['date']} |")
    return out


def document(all_records):
    kinds = {name: latest([r for r in all_records if kind(r) == name]) for name in dict.fromkeys(map(kind, all_records))}
    out = ["# Speed", "",
           "Made by `make bench BENCH_ARGS=--record` from `bench/history.jsonl`; do not edit. All counters and bounds checks are on where "
           "nothing else is said. PoCL, which runs OpenCL on the same threads, counts and checks nothing.", "", *multiples(kinds), "",
           "## Now, against the goals"]
    for name, now in kinds.items():
        out += ["", f"### {name}", "", *against_goals(now)]
    out += ["", "## History", "", "Multiples of PoCL on one thread, and what a launch and a start take. `load`: what else ran on the "
            "machine; figures taken beside other work are too low.", "",
            "| date | commit | machine | vectors | load | " + " | ".join(head for _, head in COLUMNS) + " |",
            "|---" * (5 + len(COLUMNS)) + "|"]
    for r in all_records:
        cells = [number(r["figures"].get(name), 0) for name, _ in COLUMNS]
        out.append(f"| {r['date']} | {r['commit']} | {r['machine']} | {r.get('vectors', '')} | {r['load']} | " + " | ".join(cells) + " |")
    return "\n".join(out + [""] + openmp.section() + [""] + counting.section()) + "\n"


def write_document():
    DOCUMENT.write_text(document(records()))
