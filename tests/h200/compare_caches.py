#!/usr/bin/env python3
"""Compares the modelled caches of warpgrind with the counters of a real H200, launch by launch.

    tests/h200/compare_caches.py --build BUILD [--write docs/accuracy-caches.md] [GROUP or TOPIC ...]

The programs are tests/h200/microbench.cu and those of the lab with --once, as BUILD has them. tests/data/h200/caches.csv and
caches_lab.csv have what an H200 counted with cold caches. Prints how far the model is off, by group and topic and over all
launches; exit code 1: further than the bounds below. --write puts the tables into the document.
"""
import argparse
import collections
import csv
import os
import statistics
import sys

import compare as micro
import compare_lab as lab

LOAD = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_"
TEXTURE = "l1tex__t_sectors_pipe_tex_mem_texture_lookup_"
# What DRAM reads besides the kernel's data: its code, its parameters and what the driver does (h200/README: about 3 KB).
BACKGROUND = 6144


class Quantity:
    """A column of the table: the value from a launch's metrics (None: the launch has none), and how far off it may be in
    the median over all launches."""

    def __init__(self, title, value, kind, bound):
        self.title, self.value, self.kind, self.bound = title, value, kind, bound

    def difference(self, ours, theirs):
        if self.kind == "points":
            return abs(ours - theirs)
        allowed = BACKGROUND if self.kind == "bytes" else 0
        return 100 * max(0.0, abs(ours - theirs) - allowed) / max(theirs, 1.0)

    def unit(self):
        return "points" if self.kind == "points" else "%"


def rate(name):
    def value(m):
        hit, miss = micro.number(m.get(name + "hit.sum")), micro.number(m.get(name + "miss.sum"))
        return 100 * hit / (hit + miss) if hit is not None and miss is not None and hit + miss > 0 else None
    return value


def plain(name):
    return lambda m: micro.number(m.get(name))


QUANTITIES = [
    Quantity("L1 hit rate, global loads", rate(LOAD), "points", 3),
    Quantity("L1 hit rate, textures", rate(TEXTURE), "points", 3),
    Quantity("L1 hit rate, all", plain("l1tex__t_sector_hit_rate.pct"), "points", 3),
    Quantity("L2 sectors read", plain("lts__t_sectors_srcunit_tex_op_read.sum"), "share", 15),
    Quantity("L2 sectors written", plain("lts__t_sectors_srcunit_tex_op_write.sum"), "share", 15),
    Quantity("DRAM bytes read", plain("dram__bytes_read.sum"), "bytes", 5),
]


def by_first(path, key):
    rows = collections.OrderedDict()
    for row in micro.read_csv(os.path.join(micro.DATA, path)):
        rows.setdefault(row[key], []).append(row)
    return rows


def microbenchmarks(build):
    """(group, pairs of launches here and there), or (group, what is wrong)."""
    for group, rows in by_first("caches.csv", "group").items():
        yield group, lambda group=group, rows=rows: paired_in_order(
            micro.run(os.path.join(build, "bin/warpgrind"), os.path.join(build, "tests/h200/microbench"), group)[0], rows)


def paired_in_order(ours, theirs):
    if ours is None or len(ours) != len(theirs):
        return f"{len(ours or [])} launches, the GPU made {len(theirs)}"
    return list(zip(ours, theirs))


def lab_topics(build):
    for topic, rows in by_first("caches_lab.csv", "topic").items():
        yield topic, lambda topic=topic, rows=rows: paired_by_kernel(lab.run(build, topic), rows)


def paired_by_kernel(ours, theirs):
    return "did not run" if ours is None else lab.pair(ours, theirs)[0]


def collect(sources, wanted):
    off, problems = collections.OrderedDict(), []
    for group, run in sources:
        if wanted and group not in wanted:
            continue
        pairs = run()
        if isinstance(pairs, str):
            problems.append(f"{group}: {pairs}")
            continue
        off[group] = [[] for _ in QUANTITIES]
        for ours, theirs in pairs:
            for i, q in enumerate(QUANTITIES):
                a, b = q.value(ours), q.value(theirs)
                if a is not None and b is not None:
                    label = theirs.get("label") or theirs["kernel"] + " " + theirs["grid"]
                    off[group][i].append((q.difference(a, b), group + ": " + label, a, b))
    return off, problems


def cell(values, unit):
    if not values:
        return ""
    return f"{statistics.median(v[0] for v in values):.1f}, {max(v[0] for v in values):.0f}" + (" %" if unit == "%" else "")


def table(off):
    lines = ["| launches of | n | " + " | ".join(q.title for q in QUANTITIES) + " |",
             "|---|---|" + "---|" * len(QUANTITIES)]
    for group, columns in off.items():
        lines.append(f"| {group} | {max(map(len, columns))} | "
                     + " | ".join(cell(c, q.unit()) for q, c in zip(QUANTITIES, columns)) + " |")
    everything = [sum((columns[i] for columns in off.values()), []) for i in range(len(QUANTITIES))]
    lines.append(f"| **all** | {max(map(len, everything))} | "
                 + " | ".join(f"**{cell(c, q.unit())}**" if c else "" for q, c in zip(QUANTITIES, everything)) + " |")
    within = [f"{100 * sum(v[0] <= q.bound for v in c) / len(c):.0f} %" if c else "" for q, c in zip(QUANTITIES, everything)]
    lines.append("| within the bound | | " + " | ".join(
        f"{w} within {q.bound}{' points' if q.kind == 'points' else ' %'}" if w else "" for q, w in zip(QUANTITIES, within))
                 + " |")
    return lines, everything


def report(title, sources, options):
    off, problems = collect(sources, options.group)
    if not off:
        return [], problems
    lines, everything = table(off)
    print("\n".join(["", title, "", *lines]))
    for q, values in zip(QUANTITIES, everything):
        for v in sorted(values, reverse=True)[:options.worst]:
            print(f"{q.title}: {v[1]}: {v[2]:g}, GPU {v[3]:g}")
        if values and statistics.median(v[0] for v in values) > q.bound:
            problems.append(f"{title} {q.title}: more than {q.bound} {q.unit()} off in the median")
    return [title, "", *lines, ""], problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(lab.ROOT, "build"))
    parser.add_argument("--write", help="a document with a line `<!-- tables -->` and a line `<!-- end -->`")
    parser.add_argument("--worst", type=int, default=0, help="print so many launches for each column")
    parser.add_argument("--built-by", choices=("nvcc", "clang"), default="nvcc", help="the compiler of the programs")
    parser.add_argument("group", nargs="*")
    options = parser.parse_args()
    if options.built_by != "nvcc" or not os.path.exists(os.path.join(options.build, "tests/h200/microbench")):
        print("skipped: the hardware's counters are of nvcc's code, and these programs were built without it")
        return 77
    text, problems = [], []
    for title, sources in (("Launches of the microbenchmark:", microbenchmarks(options.build)),
                           ("Launches of the lab (`--once`):", lab_topics(options.build))):
        lines, wrong = report(title, sources, options)
        text += lines
        problems += wrong
    if options.write:
        with open(options.write, encoding="utf-8") as f:
            before, rest = f.read().split("<!-- tables -->\n")
        with open(options.write, "w", encoding="utf-8") as f:
            f.write(before + "<!-- tables -->\n" + "\n".join(text) + "<!-- end -->" + rest.split("<!-- end -->")[1])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
