#!/usr/bin/env python3
"""Holds the virtual timeline against an H200: what the lab's rows of copies, streams, managed and mapped memory, graphs,
several GPUs and host timers take, by events and by the host's clock.

    tests/h200/compare_transfers.py --build BUILD                     the tables; exit code 1: a topic has become worse
    tests/h200/compare_transfers.py --build BUILD --write             writes docs/accuracy-transfers.md and the table that
                                                                      later runs are held against
    tests/h200/compare_transfers.py --results FILE.json ...           judges results of `warpgrind lab --json` instead

The programs run on the virtual H200; measured times are those of lab/results/h200. A topic is worse when the median of
its errors |estimated / measured - 1| is more than 2 points above that of the table.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

import compare as micro
import whole_run  # found by compare

ROOT = os.path.join(micro.HERE, "..", "..")
STORED = os.path.join(ROOT, "lab", "results", "h200")
TABLE = os.path.join(STORED, "transfers.csv")
PAGE = os.path.join(ROOT, "docs", "accuracy-transfers.md")
# Topic, arguments of the program, GPUs, file of the measured rows. Sizes that take the virtual GPU a few seconds.
RUNS = [
    ("transfer", ["1024,65536,1048576,16777216"], 1, "lab-full.json"),
    ("streams", ["1048576"], 1, "lab-full.json"),
    ("timing", ["65536,1048576"], 1, "lab-full.json"),
    ("vecadd", ["1048576,16777216", "--rung", "managed"], 1, "lab-full.json"),
    ("poisson", ["256x256,700x700,1024x1024", "--rung", "graph"], 1, "lab-full.json"),
    ("multigpu", ["1024x1024"], 4, "multigpu-x4.json"),
]
# Not measured by what is stored: the loops that ask for the end of the copy took the first answer for it.
HOST_TIME_VOID = {("transfer", "copy beside CPU"), ("transfer", "copy, then CPU"), ("transfer", "stream query")}
POINTS = 0.02


def medians(row):
    return [row.get(clock, {}).get("median", 0) for clock in ("gpu_us", "cpu_us")]


def measured(file):
    with open(os.path.join(STORED, file)) as f:
        return {row["range"]: row for topic in json.load(f)["topics"] for row in topic["rows"] if "gpu_us" in row}


def estimated(build, topic, arguments, devices):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.json")
        command = [os.path.join(build, "bin/warpgrind"), "run", "--gpu", "h200", "--quiet", "--devices", str(devices),
                   os.path.join(build, "lab", topic), *arguments, "--json", out]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              env=whole_run.environment())
        if done.returncode != 0 or not os.path.exists(out):
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
        with open(out) as f:
            return json.load(f)["rows"]


def collect(options):
    """Lines (topic, clock, rung, size, parameters, estimated, measured), microseconds."""
    lines = []
    given = {}
    for path in options.results:
        with open(path) as f:
            for topic in json.load(f)["topics"]:
                given.setdefault(topic["topic"], []).extend(topic["rows"])
    for topic, arguments, devices, file in RUNS:
        if options.results:
            rows = given.get(topic, [])
        else:
            rows = estimated(options.build, topic, arguments, devices)
        known = measured(file)
        for row in rows:
            other = known.get(row["range"])
            if other is None or "gpu_us" not in row:
                continue
            parameters = " ".join(f"{k}={v:g}" for k, v in row["parameters"].items())
            for clock, ours, theirs in zip(("events", "host"), medians(row), medians(other)):
                if clock == "host" and (topic, row["rung"]) in HOST_TIME_VOID or theirs <= 0 or ours <= 0:
                    continue
                lines.append((topic, clock, row["rung"], row["size_text"], parameters, ours, theirs))
    return lines


def error(line):
    return abs(line[5] / line[6] - 1)


def summary(lines):
    """By (topic, clock): rows, median error, error of nine in ten, worst factor."""
    out = {}
    for key in dict.fromkeys(line[:2] for line in lines):
        own = [line for line in lines if line[:2] == key]
        errors = sorted(error(line) for line in own)
        worst = max(max(line[5] / line[6], line[6] / line[5]) for line in own)
        out[key] = (len(own), statistics.median(errors), errors[min(len(errors) - 1, len(errors) * 9 // 10)], worst)
    return out


def markdown(lines):
    text = ["# How good the virtual timeline is", "",
            "`tests/h200/compare_transfers.py --build BUILD --write` writes this document. It compares the times of rows of the lab",
            "on the virtual H200 with those on a real one (`lab/results/h200`). The rows are those of copies, streams, managed and",
            "mapped memory, graphs, several GPUs and host timers. Errors are |estimated / measured - 1|. \"events\" is the time",
            "between two events, \"host\" that of the host's clock. The rules: `src/analysis/timing/copy_estimate.cpp`,",
            "`src/analysis/timing/timeline.cpp`, `src/analysis/timing/terms/links.cpp`.", "",
            "| topic | clock | rows | median | 90 % within | worst |", "|---|---|---|---|---|---|"]
    for (topic, clock), (rows, median, most, worst) in summary(lines).items():
        text.append(f"| {topic} | {clock} | {rows} | {100 * median:.1f} % | {100 * most:.0f} % | {worst:.2f}x |")
    text += ["", "What is not modelled:", "",
             "- The speed of the host's own memory: pageable copies beyond its caches take twice as long. So do copies of about",
             "  1 MiB into memory that the host has just written.",
             "- An idle GPU that a short fill or kernel has just left: copies behind it begin up to 7 us later (rungs \"pinned",
             "  to device\", \"pieces\" with one copy, \"explicit copy\").",
             "- Managed memory that goes back and forth: after some rounds the driver leaves small pieces with the host and maps",
             "  them (rung \"managed\", 1 and 64 KiB, measured after many rounds). Pages that the host takes back cost nothing",
             "  here.",
             "- In topic streams most of the error is the kernel's own time.", "",
             "## Rows", "", "Microseconds.", "",
             "| topic | rung | size | parameters | clock | estimated | measured | ratio |", "|---|---|---|---|---|---|---|---|"]
    for topic, clock, rung, size, parameters, ours, theirs in lines:
        text.append(f"| {topic} | {rung} | {size} | {parameters} | {clock} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--built-by", choices=("nvcc", "clang"), default="nvcc", help="the compiler of the lab's programs")
    parser.add_argument("--results", nargs="+", default=[], metavar="FILE.json")
    parser.add_argument("--rows", action="store_true", help="print each row")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.built_by != "nvcc":
        print("skipped: the measured times are of nvcc's code, and these programs were built without it")
        return 77
    if not options.results and not all(os.path.exists(os.path.join(options.build, "lab", run[0])) for run in RUNS):
        print("skipped: not all of the lab's programs are built")
        return 77
    lines = collect(options)
    if options.rows:
        for line in lines:
            print("{:9} {:6} {:20} {:>9} {:11} {:11.2f} {:11.2f} {:6.2f}".format(*line, line[5] / line[6]))
    table = summary(lines)
    print(f"{'topic':10} {'clock':7} {'rows':>5} {'median':>8} {'90 %':>7} {'worst':>7}")
    for (topic, clock), (rows, median, most, worst) in table.items():
        print(f"{topic:10} {clock:7} {rows:5} {100 * median:7.1f}% {100 * most:6.0f}% {worst:6.2f}x")
    if options.write:
        with open(TABLE, "w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["topic", "clock", "rows", "median"])
            out.writerows([topic, clock, rows, f"{median:.4f}"] for (topic, clock), (rows, median, *_) in table.items())
        with open(PAGE, "w") as f:
            f.write(markdown(lines))
        return 0
    if options.results:
        return 0
    worse = []
    with open(TABLE, newline="") as f:
        for row in csv.DictReader(f):
            now = table.get((row["topic"], row["clock"]))
            if now is None or now[0] < int(row["rows"]):
                worse.append(f"{row['topic']}, {row['clock']}: {now[0] if now else 0} of {row['rows']} rows are left")
            elif now[1] > float(row["median"]) + POINTS:
                worse.append(f"{row['topic']}, {row['clock']}: median {100 * now[1]:.1f} %, was {100 * float(row['median']):.1f} %")
    for text in worse:
        print("worse: " + text)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
