#!/usr/bin/env python3
"""Holds the virtual timeline against an H200 where a stream changes between kernels and copies.

    compare_engines.py --warpgrind FILE --program FILE

The program (engines.cu) issues the sequences of lab/results/h200/engines.csv; the times between their events are compared
with those that were measured. Prints each sequence; exit code 1 if one is too far off, 77 if the program is not built.
"""
import csv
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

MEASURED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "engines.csv")
# A change of engines is 3.49 us: one that is charged to the wrong side of an event, or not at all, is further off in the
# sequences around a kernel of 5.6 us. The copies of 4 MiB have the second bound. What is left is the host's part of an
# idle stream.
MICROSECONDS, SHARE = 2.5, 0.25


def main():
    options = whole_run.program_options(__doc__)
    with open(MEASURED, newline="") as f:
        measured = {row[0]: [float(us) for us in row[1:]] for row in csv.reader(f)}
    command = [options.warpgrind, "run", "--gpu", "h200", "--quiet", options.program, *measured]
    rows = {row[0]: [float(us) for us in row[1:]] for row in csv.reader(whole_run.output_of(command).splitlines())}
    failed = 0
    for sequence, times in measured.items():
        ours = rows.get(sequence, [])
        good = len(ours) == len(times) and all(
            abs(a - b) <= max(MICROSECONDS, SHARE * b) for a, b in zip(ours, times))
        failed += not good
        print(f"{sequence:10} measured {times} estimated {ours}{'' if good else '  TOO FAR OFF'}")
    print(f"{len(measured) - failed} of {len(measured)} sequences within {MICROSECONDS} us or {100 * SHARE:.0f} %")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
