#!/usr/bin/env python3
"""Holds the estimate of matrices read and written by columns against an H200.

    compare_columns.py --warpgrind FILE --program FILE

The program (columns.cu) reads or writes a matrix by columns that are 32 KB to 8 MB apart. From 256 MB on, an SM's cache of address
translations does not reach over all columns. The times must be those of lab/results/h200/columns.csv within a factor of 1.3.
Prints each row; exit code 1 if one is further off, 77 if the program is not built by nvcc.
"""
import csv
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

MEASURED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "columns.csv")
FACTOR = 1.3
# Rows of a power of two and columns of 2 MB and more are left out: they also meet in L2, which is not modelled (up to 1.5 times).
SHAPES = ["8192x8192", "65568x256", "262176x1024", "524320x256", "786432x256", "1048608x256", "2097184x128"]


def main():
    options = whole_run.program_options(__doc__)
    with open(MEASURED, newline="", encoding="utf-8") as f:
        measured = {(row["rows"], row["columns"], row["kernel"]): float(row["us"]) for row in csv.DictReader(f)}
    # All blocks do the same.
    command = [options.warpgrind, "run", "--gpu", "h200", "--quiet", "--blocks", "8", options.program, "1", *SHAPES]
    logs = []
    for ours in csv.DictReader(whole_run.output_of(command).splitlines()):
        real, estimated = measured[ours["rows"], ours["columns"], ours["kernel"]], float(ours["us"])
        logs.append(math.log(estimated / real))
        print(f"{ours['rows']:>8} x {ours['columns']:<5} {ours['kernel']:17} measured {real:8.0f} us, estimated {estimated:8.0f} us, {estimated / real:.2f}")
    beyond = sum(abs(x) > math.log(FACTOR) for x in logs)
    print(f"{len(logs) - beyond} of {len(logs)} rows within a factor of {FACTOR}; mean {math.exp(sum(logs) / max(1, len(logs))):.2f}")
    return 1 if not logs or beyond else 0


if __name__ == "__main__":
    sys.exit(main())
