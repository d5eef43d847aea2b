#!/usr/bin/env python3
"""Writes docs/accuracy-counters.md: for every counter how often it equals that of a real H200, and how far off it is.

    tests/h200/accuracy.py --build BUILD [--write] [--worst METRIC] [--ptx-only PROGRAM]

Runs the microbenchmark (tests/h200/microbench.cu, against tests/data/h200) and the programs of the lab (against
lab/results/h200/counters) on the virtual H200. One launch is one value. A difference is |ours - theirs| / theirs; where the GPU
has 0 and we do not, it counts as infinite. --worst names the launches that differ most in one counter. --ptx-only: the
microbenchmark without machine code (nvcc -gencode arch=compute_90,code=compute_90), whose registers are estimated then.
"""
import argparse
import collections
import math
import os
import sys

import compare as micro
import compare_lab as lab

NOT_COUNTERS = {"label", "kernel", "block", "grid", "output_fnv1a64", "dynamic_shared"}


def values(build, program):
    """(place, metric, ours, theirs) of all launches that have a counterpart."""
    for group in micro.groups():
        launches, _ = micro.run(os.path.join(build, "bin/warpgrind"), program, group)
        truth = micro.read_csv(os.path.join(micro.DATA, f"micro_{group}.csv"))
        for ours, theirs in zip(launches or [], truth):
            yield from pairs(f"{group}: {theirs['label']}", ours, theirs)
    for name in sorted(os.listdir(lab.FOLDER)):
        topic = name[:-4]
        if not name.endswith(".csv") or not os.path.exists(os.path.join(build, "lab", topic)):
            continue
        found, _, _ = lab.pair(lab.run(build, topic) or [], micro.read_csv(os.path.join(lab.FOLDER, name)))
        for ours, theirs in found:
            yield from pairs(f"{topic}: {theirs['kernel']} {theirs['grid']}", ours, theirs)


def pairs(place, ours, theirs):
    for metric, value in theirs.items():
        got = ours.get(metric)
        if metric not in NOT_COUNTERS and micro.number(value) is not None:
            yield place, metric, got, value


class Row:
    def __init__(self):
        self.launches = self.equal = self.missing = 0
        self.differences = []

    def add(self, ours, theirs):
        self.launches += 1
        if ours is None or micro.number(ours) is None:
            self.missing += 1
            return None
        if micro.same(ours, theirs):
            self.equal += 1
            self.differences.append(0.0)
            return 0.0
        a, b = micro.number(ours), micro.number(theirs)
        self.differences.append(abs(a - b) / abs(b) if b else math.inf)
        return self.differences[-1]


def percent(x):
    return "GPU has 0" if math.isinf(x) else f"{100 * x:.1f} %"


def table(rows):
    lines = ["| counter | launches | equal | median difference | 90 % within | worst |", "|---|---|---|---|---|---|"]
    for metric, r in sorted(rows.items()):
        if r.missing == r.launches:
            lines.append(f"| `{metric}` | {r.launches} | not counted | | | |")
            continue
        d = sorted(r.differences)
        lines.append(f"| `{metric}` | {r.launches} | {r.equal} ({100 * r.equal // len(d)} %) | {percent(d[len(d) // 2])} | "
                     f"{percent(d[min(len(d) - 1, len(d) * 9 // 10)])} | {percent(d[-1])} |")
    return lines


def registers(build, program):
    """Values estimated without a cubin beside those of ptxas: one value per kernel."""
    found = {}
    for group in micro.groups():
        launches, _ = micro.run(os.path.join(build, "bin/warpgrind"), program, group)
        truth = micro.read_csv(os.path.join(micro.DATA, f"micro_{group}.csv"))
        for ours, theirs in zip(launches or [], truth):
            found[theirs["kernel"]] = tuple(float(r["launch__registers_per_thread"]) for r in (ours, theirs))
    away = sorted(abs(a - b) for a, b in found.values())
    relative = sorted(abs(a - b) / b for a, b in found.values())
    n = len(away)
    return (f"\n## Registers without a cubin\n\n`launch__registers_per_thread` of the {n} kernels of the microbenchmark, "
            "built without machine code, so that\nthe registers are estimated from PTX (modelled), beside those of ptxas.\n\n"
            "| kernels | equal | within 4 | within 8 | median difference | 90 % within | worst |\n|---|---|---|---|---|---|---|\n"
            f"| {n} | {sum(a == 0 for a in away)} | {sum(a <= 4 for a in away)} | {sum(a <= 8 for a in away)} | "
            f"{percent(relative[n // 2])} | {percent(relative[n * 9 // 10])} | {percent(relative[-1])} |\n")


HEAD = """# Counters: how many equal those of an H200

Made by `tests/h200/accuracy.py --build BUILD --write`: {launches} launches of the microbenchmark and the lab, counted by Nsight
Compute on one H200 (stored in tests/data/h200 and lab/results/h200/counters), and here. The causes of differences stand in
tests/h200/causes.csv. Of all {values} values {equal} are equal ({share:.1f} %).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(lab.ROOT, "build"))
    parser.add_argument("--program", help="the microbenchmark; else that of the build")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ptx-only", help="the microbenchmark as PTX alone: a table of the registers that are estimated")
    parser.add_argument("--worst", action="append", default=[], help="a counter: its launches that differ most")
    options = parser.parse_args()
    program = options.program or os.path.join(options.build, "tests/h200/microbench")
    rows, places, worst = collections.defaultdict(Row), set(), []
    for n, (place, metric, ours, theirs) in enumerate(values(options.build, program)):
        difference = rows[metric].add(ours, theirs)
        places.add(place)
        if metric in options.worst and difference:
            worst.append((difference, place, metric, ours, theirs))
    counted = [r for r in rows.values() if r.missing < r.launches]
    total, equal = sum(len(r.differences) for r in counted), sum(r.equal for r in counted)
    launches = max((r.launches for r in rows.values()), default=0)
    text = HEAD.format(launches=launches, values=total, equal=equal, share=100 * equal / max(1, total))
    text += "\n" + "\n".join(table(rows)) + "\n"
    if options.ptx_only:
        text += registers(options.build, options.ptx_only)
    if options.write:
        with open(os.path.join(lab.ROOT, "docs", "accuracy-counters.md"), "w") as f:
            f.write(text)
    else:
        print(text)
    for difference, place, metric, ours, theirs in sorted(worst, reverse=True):
        print(f"{percent(difference):>10}  {metric}  {place}: {ours}, GPU {theirs}")
    return 0 if total else 77


if __name__ == "__main__":
    sys.exit(main())
