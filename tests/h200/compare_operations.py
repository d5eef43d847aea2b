#!/usr/bin/env python3
"""Holds the cycles of single operations against an H200.

    compare_operations.py --warpgrind FILE --program FILE
    compare_operations.py --warpgrind FILE --program FILE --write <NCU.csv

The program (operations.cu) runs chains of one operation by one warp, and by 32 warps of each SM. The virtual GPU must agree with
lab/results/h200/operations.csv: the latency of 85 % of the operations within a factor of 1.25, and the machine instructions of 75 % of
them within a tenth. Prints the operations that are further off; exit code 1 if too many are, 77 if the program is not built by nvcc.
--write stores the file anew: the measurement from `ncu --csv --metrics gpu__time_duration.sum,smsp__inst_executed.sum` of the program,
and the estimate beside it. What was estimated so far moves to before_*.
"""
import csv
import math
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

STORED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "operations.csv")
TIME, INSTRUCTIONS = "gpu__time_duration.sum", "smsp__inst_executed.sum"
GHZ, ROUNDS = 1.98, 512
FACTOR, MOST_OPERATIONS = 1.25, 0.85
PART, MOST_COUNTS = 0.1, 0.75
COLUMNS = ("latency_cycles", "instructions", "throughput_cycles")
NOTE = "# tests/h200/operations.cu (nvcc 13.0, -O3, sm_90) under Nsight Compute on one H200 (driver 580, 1980 MHz), 2026-12-01."


def launches_of(lines):
    """[{"name": operation, metric: value}] of what Nsight Compute writes as CSV, of one run or several."""
    launches = {}
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        if row["ID"] == "ID":
            continue
        name = re.search(r"\bk_(\w+?)_?\(", row["Kernel Name"])[1]
        launch = launches.setdefault((row.get("Process ID"), row["ID"]), {"name": name})
        if row["Metric Name"] in (TIME, INSTRUCTIONS):
            launch[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return list(launches.values())


def operations_of(launches):
    """{operation: [cycles of a warp alone, machine instructions, cycles of an SM for a warp of 32]}, of a round. The last is missing
    where only one warp ran. An operation has four launches for each number of warps: 256 and 768 rounds, each twice."""
    each = {}
    for launch in launches:
        each.setdefault(launch["name"], []).append(launch)
    found = {}
    for name, of in each.items():
        more = [of[at + 3][TIME] - of[at + 1][TIME] for at in range(0, len(of), 4)]
        found[name] = [more[0] * GHZ / ROUNDS, (of[3][INSTRUCTIONS] - of[1][INSTRUCTIONS]) / ROUNDS,
                       *(ns * GHZ / ROUNDS / 32 for ns in more[1:])]
    return found


def estimate(options, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "operations.csv")
        whole_run.output_of([options.warpgrind, "run", "--gpu", "h200", "--quiet", "--csv", path, options.program, *arguments])
        with open(path, encoding="utf-8") as f:
            return operations_of(launches_of(f))


def write(measured, estimated):
    before = {}
    if os.path.exists(STORED):
        with open(STORED, newline="", encoding="utf-8") as f:
            before = {row["operation"]: row for row in csv.DictReader(line for line in f if not line.startswith("#"))}
    with open(STORED, "w", newline="", encoding="utf-8") as f:
        print(NOTE, file=f)
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["operation", *COLUMNS, *("before_" + c for c in COLUMNS), *("estimated_" + c for c in COLUMNS)])
        for name, figures in measured.items():
            old = [before[name]["estimated_" + c] for c in COLUMNS] if name in before else [""] * len(COLUMNS)
            table.writerow([name, *(f"{x:.2f}" for x in figures), *old, *(f"{x:.2f}" for x in estimated[name])])


def main():
    options = whole_run.program_options(__doc__, "--write")
    if options.write:
        return write(operations_of(launches_of(sys.stdin)), estimate(options))
    estimated = estimate(options, "1")
    with open(STORED, newline="", encoding="utf-8") as f:
        measured = {row["operation"]: [float(row[c]) for c in COLUMNS]
                    for row in csv.DictReader(line for line in f if not line.startswith("#"))}
    near = same = 0
    for name, (latency, instructions, _) in measured.items():
        ours, count = estimated[name]
        close, equal = abs(math.log(ours / latency)) <= math.log(FACTOR), abs(count / instructions - 1) <= PART
        near, same = near + close, same + equal
        if not close or not equal:
            print(f"{name:14} {latency:7.1f} cycles, estimated {ours:7.1f}; {instructions:6.1f} instructions, modelled {count:6.1f}")
    print(f"{near} latencies of {len(measured)} within a factor of {FACTOR}, {same} counts within {PART:.0%}")
    return near < MOST_OPERATIONS * len(measured) or same < MOST_COUNTS * len(measured)


if __name__ == "__main__":
    sys.exit(main())
