#!/usr/bin/env python3
"""Holds the estimate of kernels that spill registers against an H200.

    compare_spills.py --warpgrind FILE --program FILE

The program (spills.cu) has 20 kernels that spill 8 to 236 words a thread, and four that do not spill.
Registers and local memory must be those of the machine code, and the times those of lab/results/h200/spills.csv within a factor of 2.
Prints each row; exit code 1 if more than 5 % of them are further off, 77 if the program is not built by nvcc.
"""
import csv
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

MEASURED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "spills.csv")
FACTOR, SHARE = 2, 0.05
# Of few resident warps and of all that an SM holds.
GRIDS = ["64", "132", "2112"]


def main():
    options = whole_run.program_options(__doc__)
    with open(MEASURED, newline="", encoding="utf-8") as f:
        measured = {(row["kernel"], row["blocks"]): row for row in csv.DictReader(f)}
    # All blocks of a kernel do the same.
    command = [options.warpgrind, "run", "--gpu", "h200", "--quiet", "--blocks", "8", options.program, "2", *GRIDS]
    rows = beyond = wrong = 0
    logs = []
    for ours in csv.DictReader(whole_run.output_of(command).splitlines()):
        row = measured[ours["kernel"], ours["blocks"]]
        if ours["kernel"].startswith(("both", "loads", "stores")):
            continue  # local arrays: exact counts, whose times are not what is judged here
        rows += 1
        ratio = float(ours["us"]) / float(row["us"])
        logs.append(math.log(ratio))
        beyond += max(ratio, 1 / ratio) > FACTOR
        same = all(ours[what] == row[what] for what in ("registers", "local_bytes", "blocks_per_sm"))
        wrong += not same
        print(f"{ours['kernel']:12} {ours['blocks']:>5} blocks: measured {float(row['us']):8.2f} us, estimated {float(ours['us']):8.2f} us,"
              f" {ratio:.2f}{'' if same else '  OTHER REGISTERS OR LOCAL MEMORY'}")
    print(f"{rows - beyond} of {rows} rows within a factor of {FACTOR}; mean {math.exp(sum(logs) / max(1, rows)):.2f}")
    return 1 if rows == 0 or wrong or beyond > SHARE * rows else 0


if __name__ == "__main__":
    sys.exit(main())
