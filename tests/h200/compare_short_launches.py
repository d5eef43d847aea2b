#!/usr/bin/env python3
"""Holds the estimate of launches of 1.4 to 3 us against an H200.

    compare_short_launches.py --warpgrind FILE --program FILE

The program (short_launches.cu) launches kernels without accesses to memory, with one, and with chains of loads, in 1 to 1,056 blocks. The
median error against lab/results/h200/short_launches.csv must be at most 5 %, and no time further off than 15 %. Prints each
row; exit code 1 if they are, 77 if the program is not built by nvcc.
"""
import csv
import os
import re
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

MEASURED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "short_launches.csv")
MEDIAN, MOST = 0.05, 0.15


def estimates(options):
    """{(kernel, blocks, threads): ns of its last launch}. The first ones fetch their code."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "short_launches.csv")
        whole_run.output_of([options.warpgrind, "run", "--gpu", "h200", "--quiet", "--csv", path, options.program])
        with open(path, newline="", encoding="utf-8") as f:
            rows = [row for row in csv.DictReader(f) if row["Metric Name"] == "gpu__time_duration.sum"]
    size = re.compile(r"\((\d+),")
    return {(re.search(r"k_(\w+)\(", row["Kernel Name"])[1], size.match(row["Grid Size"])[1], size.match(row["Block Size"])[1]):
            float(row["Metric Value"]) for row in rows}


def main():
    estimated = estimates(whole_run.program_options(__doc__))
    errors = []
    with open(MEASURED, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            measured, ours = float(row["measured_ns"]), estimated[row["kernel"], row["blocks"], row["threads"]]
            errors.append(abs(ours / measured - 1))
            print(f"{row['kernel']:12} {row['blocks']:>5} blocks of {row['threads']:>3}: measured {measured:5.0f} ns, estimated {ours:5.0f} ns, "
                  f"{ours / measured:.2f}")
    print(f"{len(errors)} launches: median error {statistics.median(errors):.1%}, largest {max(errors):.1%}")
    return statistics.median(errors) > MEDIAN or max(errors) > MOST


if __name__ == "__main__":
    sys.exit(main())
