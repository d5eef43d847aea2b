#!/usr/bin/env python3
"""Writes docs/device-math.md from what math_reference measured.

  table.py OURS.csv      beside it h200.csv: the same samples, NVIDIA's functions on an H200
"""
import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parent.parent / "docs/device-math.md"
HEAD = """# Device math: how exact

Programs that warpgrind compiles itself (by clang) get their device math from `lib/warpgrind/libdevice.bc`. It holds OCML of ROCm, and
functions of our own where OCML has none or is not exact enough ([ARCHITECTURE.md](ARCHITECTURE.md), devicelib). The table compares each
function on the virtual GPU with MPFR at 32,768 arguments:

- any bits at all, and all pairs of special values;
- close to multiples of 1/4 and of pi/4;
- small, large, and mostly the interval that matters.

The column H200 has NVIDIA's own functions of CUDA 13.0 at the same arguments on an H200.

Errors are counted as in NVIDIA's guide ("Mathematical Functions"): the largest difference, in units of the last place, from the correctly
rounded result. The bounds are those of CUDA 12's guide. For some Bessel functions the guide bounds the absolute error instead, beyond some
argument. lgamma is not bounded close to its poles. Infinities, NaNs and signs of zeros are the reference's in every case (column "kind":
how many are not).

`ninja device_math_table` writes this document. The test `device_math.bounds` checks the bounds at 60 arguments of each function.

| function | bound | here | H200 | absolute bound | here | H200 | kind |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return {row["function"]: row for row in csv.DictReader(f)}


def absolute(row):
    return f"{float(row['absolute']):.1e}" if row and float(row["absolute_bound"]) else ""


def main():
    ours, h200 = rows(sys.argv[1]), rows(HERE / "h200.csv")
    lines, beyond = [], []
    for name, row in ours.items():
        other = h200.get(name)
        only_absolute = float(row["bound"]) == 0 and float(row["absolute_bound"]) and float(row["ulps"]) == 0
        ulps = ["", "", ""] if only_absolute else [row["bound"], row["ulps"], other["ulps"] if other else ""]
        bound = f"{float(row['absolute_bound']):.1e}" if float(row["absolute_bound"]) else ""
        lines.append(f"| {name} | {' | '.join(ulps)} | {bound} | {absolute(row)} | {absolute(other)} | {row['wrong_kind']} |\n")
        if float(row["ulps"]) > float(row["bound"]) or float(row["absolute"]) > float(row["absolute_bound"]) or \
                int(row["wrong_kind"]):
            beyond.append(name)
    tail = f"\nBeyond a bound: {', '.join(beyond) if beyond else 'none'}.\n"
    OUT.write_text(HEAD + "".join(lines) + tail, encoding="utf-8")
    sys.exit(f"beyond their bounds: {beyond}" if beyond else 0)


if __name__ == "__main__":
    main()
