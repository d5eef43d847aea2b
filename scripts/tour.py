#!/usr/bin/env python3
"""The quick tour: every ladder of the lab on the virtual GPU, and what each rung changed, from its profile.

  tour.py [--build DIR] [--gpu MODEL] [TOPIC...]

Each program verifies itself. The figures come from the JSON that `warpgrind run --json` writes (kept in BUILD/tour/); the
sentences below each table are made from those figures, not from what the kernels promise.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# topic: (what it shows, arguments, rungs). A rung: (name as the program prints it, kernel in the profile).
TOPICS = {
    "vecadd": ("vector addition: who reads what", ["1000000"], [
        ("chunk of 4 a thread", r"vecadd_chunk\("), ("one a thread", r"vecadd\("),
        ("managed memory", r"vecadd_managed\("), ("float4 a thread", r"vecadd_float4\(")]),
    "coalescing": ("copies by offset and stride: what alignment costs", ["1048576"], [
        (f"{kind} {k}", (rf"copy_{kind}\(", index)) for kind, values in
        (("offset", (0, 1, 2, 4, 8, 16, 17, 32)), ("stride", (1, 2, 4, 8, 16, 32)))
        for index, k in enumerate(values)]),
    "matmul": ("matrix multiplication: reuse through shared memory", ["512"], [
        ("naive", r"matmul_naive\("), ("tiled, width 16", r"matmul_tiled<(\(int\))?16>"),
        ("tiled, width 32", r"matmul_tiled<(\(int\))?32>")]),
    "transpose": ("transpose: coalescing and banks", ["1024"], [
        ("copy (the bound)", r"\bcopy<"), ("naive", r"transpose_naive<"),
        ("through shared memory", r"transpose_shared<"), ("padded", r"transpose_padded<")]),
    "reduction": ("reduction: divergence, banks, idle threads", ["1000000"], [
        ("interleaved, divergent", r"reduce_interleaved_divergent\("), ("interleaved", r"reduce_interleaved\("),
        ("sequential", r"reduce_sequential\("), ("first add during load", r"reduce_first_add\("),
        ("last warp unrolled", r"reduce_last_warp\("), ("completely unrolled", r"reduce_unrolled<")]),
}
# A sweep has no better and worse rung: its rows are compared with nothing.
SWEEPS = {"coalescing"}


class Rung:
    """The figures of one kernel, by short names."""

    def __init__(self, name, kernel, verified):
        self.name, self.verified = name, verified
        metrics = kernel["metrics"]

        def value(metric):
            row = metrics.get(metric)
            return row["value"] if row and isinstance(row["value"], (int, float)) else 0.0
        lsu = "l1tex__{}_pipe_lsu_mem_global_op_{}.{}"
        self.load_requests = value(lsu.format("t_requests", "ld", "sum"))
        self.store_requests = value(lsu.format("t_requests", "st", "sum"))
        self.load_sectors = value(lsu.format("t_sectors", "ld", "sum"))
        self.store_sectors = value(lsu.format("t_sectors", "st", "sum"))
        self.load_ratio = value(lsu.format("average_t_sectors_per_request", "ld", "ratio"))
        self.store_ratio = value(lsu.format("average_t_sectors_per_request", "st", "ratio"))
        self.load_used = value("warpgrind__global_op_ld_efficiency.pct")
        self.store_used = value("warpgrind__global_op_st_efficiency.pct")
        self.conflicts = value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
        self.wavefronts = value("memory_l1_wavefronts_shared")
        self.shared_requests = value("warpgrind__shared_op_ld_requests.sum") + \
            value("warpgrind__shared_op_st_requests.sum")
        self.divergent = value("warpgrind__divergent_branches.sum")
        self.instructions = value("warpgrind__ptx_inst_executed.sum")
        self.barriers = value("warpgrind__ptx_inst_executed_op_barrier.sum")
        self.warps = value("smsp__warps_launched.sum")
        self.flop = value("warpgrind__flop.sum")
        self.ratio = value("warpgrind__cgma_loads.ratio")
        self.time_us = value("gpu__time_duration.sum") / 1e3
        limit = metrics.get("warpgrind__estimated_limit", {}).get("value", "")
        self.limit = limit if isinstance(limit, str) else ""

    @property
    def conflicts_per_request(self):
        return self.conflicts / self.shared_requests if self.shared_requests else 0.0


def count(n):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if n >= size:
            return f"{n / (1e3 if unit == 'k' else size):.3g} {unit}"
    return f"{n:.0f}"


def number(x):
    return f"{x:.0f}" if abs(x - round(x)) < 0.005 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def times(a, b):
    return f"{a / b:.2g}x" if a / b < 10 else f"{a / b:.0f}x"


def changes(a, b):
    """What got less (better) and more (worse) from rung a to rung b: two lists of phrases, the telling ones first."""
    better, worse = [], []

    def compare(before, after, phrase):
        if before > 1.05 * after:
            better.append(phrase)
        elif after > 1.05 * before:
            worse.append(phrase)

    for what in ("load", "store"):
        r0, r1, s0, s1, q0, q1, u0, u1 = (getattr(x, f"{what}_{field}") for field in ("requests", "sectors", "ratio", "used")
                                          for x in (a, b))
        if s0 and s1 and abs(s0 / s1 - 1) > 0.05 and (abs(q1 / q0 - 1) > 0.05 or abs(u1 / u0 - 1) > 0.05):
            compare(s0, s1, f"a {what} request touches {number(q1)} sectors instead of {number(q0)} and uses {u1:.0f} % of "
                            f"their bytes instead of {u0:.0f} %: {count(s1)} sectors, not {count(s0)}")
        elif s0 and s1:
            compare(s0, s1, f"{count(s1)} sectors for {what}s instead of {count(s0)}")
        if what == "load" and a.flop and b.ratio > 1.05 * a.ratio:
            better.append(f"{count(r1)} global load requests instead of {count(r0)} ({times(r0, r1)} fewer), since each "
                          f"loaded value is used for {number(b.ratio)} operations, not {number(a.ratio)}")
        elif r1:
            compare(r0, r1, f"{count(r1)} {what} requests instead of {count(r0)}")
    if a.conflicts or b.conflicts:
        now = f"{number(b.conflicts_per_request)} bank conflicts a shared request" if b.conflicts else "no bank conflicts"
        before = f"{number(a.conflicts_per_request)} a shared request ({count(a.conflicts)} in all)" if a.conflicts else "none"
        compare(a.conflicts, b.conflicts, f"{now}, before {before}")
    if max(a.divergent, b.divergent) > 0.01 * max(a.warps, b.warps):  # a split at the edge of the data is not worth a word
        compare(a.divergent, b.divergent, f"{count(b.divergent)} divergent branches instead of {count(a.divergent)}")
    compare(a.barriers, b.barriers, f"{count(b.barriers)} barrier instructions instead of {count(a.barriers)}")
    compare(a.instructions, b.instructions, f"{count(b.instructions)} instructions instead of {count(a.instructions)}")
    return better, worse


def explain(a, b):
    better, worse = changes(a, b)
    if not better and not worse:
        return f"{b.name}: the same counts as {a.name}; nothing changed for the memory."
    slower = b.time_us > 1.02 * a.time_us
    if better and not slower:
        text = f"{b.name}: better than {a.name}: " + "; ".join(better[:3])
    elif better:
        text = f"{b.name}: slower than {a.name} by the estimate, although: " + "; ".join(better[:3])
    else:
        text = f"{b.name}: dearer than {a.name}: " + "; ".join(worse[:2])
    if better and worse:
        text += ". The price: " + "; ".join(worse[:2])
    if a.time_us and b.time_us:
        text += f". Time {b.time_us:.1f} us instead of {a.time_us:.1f} us" if abs(a.time_us / b.time_us - 1) > 0.02 else \
            f". Time stays {b.time_us:.1f} us"
        text += f" (estimated; bound by {b.limit})" if b.limit else " (estimated)"
    return text + "."


def wrap(text, width, indent):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > width - indent and line:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return ("\n" + " " * indent).join(lines + [line])


def run_topic(topic, args):
    title, arguments, rungs = TOPICS[topic]
    folder = args.build / "tour"
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / f"{topic}.json"
    command = [str(args.build / "bin/warpgrind"), "run", "--quiet", "--gpu", args.gpu, "--json", str(profile)]
    command += (["--launches"] if topic in SWEEPS else []) + [str(args.build / "lab" / topic)] + arguments
    print(f"\n== {title}\n$ " + " ".join(command).replace(str(ROOT) + "/", ""))
    sys.stdout.flush()
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode or not profile.exists():
        print(done.stdout + done.stderr + f"{topic}: exit code {done.returncode}")
        return None
    with open(profile) as f:
        data = json.load(f)
    return [rung for rung in (find_rung(name, kernel, data, done.stdout) for name, kernel in rungs) if rung], seconds


def find_rung(name, pattern, data, output):
    pattern, index = pattern if isinstance(pattern, tuple) else (pattern, None)
    kernels = [k for k in data["kernels" if index is None else "launches"] if re.search(pattern, k["name"])]
    verified = re.search(rf"^{re.escape(name)} +PASS", output, re.M) is not None
    if not kernels:
        print(f"  {name}: not in the profile")
        return None
    return Rung(name, kernels[index or 0], verified)


def print_table(rungs):
    print(f"{'':24}            sectors/request    used %        bank conflicts  compute/  estimated")
    print(f"{'rung':24} verified    load   store   ld   st   total   a request   memory    time us")
    for r in rungs:
        ratio = number(r.ratio) if r.flop else "-"
        print(f"{r.name:24} {'yes' if r.verified else 'NO':8} {number(r.load_ratio):>7} {number(r.store_ratio):>7} "
              f"{r.load_used:4.0f} {r.store_used:4.0f} {count(r.conflicts):>7} {number(r.conflicts_per_request):>11} "
              f"{ratio:>8} {r.time_us:>10.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(TOPICS))
    args = parser.parse_args()
    args.build = args.build.resolve()
    unknown = [t for t in args.topics if t not in TOPICS]
    if unknown:
        parser.error(f"unknown topic {unknown[0]!r}; there are: {', '.join(TOPICS)}")
    summary, failed = [], 0
    for topic in args.topics or TOPICS:
        result = run_topic(topic, args)
        if result is None:
            failed += 1
            continue
        rungs, seconds = result
        print_table(rungs)
        if topic not in SWEEPS:
            for before, after in zip(rungs, rungs[1:]):
                print("- " + wrap(explain(before, after), 118, 2))
        wrong = sum(not r.verified for r in rungs)
        failed += wrong > 0 or len(rungs) != len(TOPICS[topic][2])
        summary.append((topic, rungs, seconds, wrong))
    print("\n== summary (counts are exact, times estimated for the modelled GPU)")
    print(f"{'topic':12} {'rungs':>5} {'verified':>8} {'first rung us':>14} {'best rung us':>13}  {'best (sweep: last)':22} run s")
    for topic, rungs, seconds, wrong in summary:
        ladder = [r for r in rungs if "bound" not in r.name]
        best = rungs[-1] if topic in SWEEPS else min(ladder, key=lambda r: r.time_us)
        print(f"{topic:12} {len(rungs):5} {len(rungs) - wrong:8} {ladder[0].time_us:14.1f} {best.time_us:13.1f}  "
              f"{best.name:22} {seconds:5.1f}")
    print(f"profiles (JSON): {args.build}/tour/".replace(str(ROOT) + "/", ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
