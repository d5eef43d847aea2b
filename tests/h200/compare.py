#!/usr/bin/env python3
"""Compares the counters of warpgrind with those of a real H200, launch by launch.

    tests/h200/compare.py --warpgrind build/bin/warpgrind --program MICROBENCH [GROUP ...]

MICROBENCH is tests/h200/microbench.cu, built with `nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo`. For each group the program
runs on the virtual H200; every metric of tests/data/h200/micro_GROUP.csv is compared, and the hash of the kernel's output
with the one seen on the GPU. Prints a table of equal and different values, with the cause of each difference. Exit code 1:
a difference that tests/h200/causes.csv does not explain, or that is larger than it allows.
"""
import argparse
import collections
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

DATA = os.path.join(HERE, "..", "data", "h200")


def read_csv(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def groups():
    names = [re.fullmatch(r"micro_(\w+)\.csv", n) for n in sorted(os.listdir(DATA))]
    return [m.group(1) for m in names if m]


def run_once(warpgrind, program, arguments):
    """Output of a program on the virtual H200 and its metrics (the rows of --csv); None: it failed, and the reason is printed. In a build
    folder they are stored: three comparisons use the same runs."""
    build = os.path.dirname(os.path.dirname(os.path.abspath(warpgrind)))
    folder = os.path.join(build, "tests", "h200")
    kept = os.path.join(folder, "runs", " ".join([os.path.basename(program), *arguments]))
    made_of = [warpgrind, program, *glob.glob(os.path.join(build, "lib", "*.so*"))]
    if os.path.exists(kept) and os.path.getmtime(kept) > max(map(os.path.getmtime, made_of)):
        with open(os.path.join(kept, "stdout")) as f:
            return f.read(), read_csv(os.path.join(kept, "out.csv"))
    with tempfile.TemporaryDirectory() as new:
        out = os.path.join(new, "out.csv")
        command = [warpgrind, "run", "--gpu", "h200", "--quiet", "--csv", out, program, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              env=whole_run.environment())
        if done.returncode != 0 or not os.path.exists(out):
            print(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
            return None
        if os.path.isdir(folder):
            with open(os.path.join(new, "stdout"), "w") as f:
                f.write(done.stdout)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(new, kept)
        return done.stdout, read_csv(out)


def run(warpgrind, program, group):
    """The launches of a group, in order: metrics by name, and the hashes the program printed."""
    done = run_once(warpgrind, program, [group])
    if done is None:
        return None, []
    launches = collections.OrderedDict()
    for row in done[1]:
        launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = row["Metric Value"]
    hashes = [line.split("|")[7] for line in done[0].splitlines() if line.startswith("L|")]
    return list(launches.values()), hashes


def same(ours, theirs):
    try:
        a, b = float(ours), float(theirs.replace(",", ""))
    except ValueError:
        return ours == theirs
    return abs(a - b) <= 0.0051 if "." in theirs else a == b


def number(text):
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None


class Bound:
    """"12 %", "12 % + 500", or "-" (no number: hashes of outputs)."""

    def __init__(self, text):
        found = re.fullmatch(r"-|([0-9.]+) %(?: \+ ([0-9.]+))?", text)
        assert found, f"causes.csv: {text!r} is no bound"
        self.none = text == "-"
        self.percent, self.more = float(found[1] or 0), float(found[2] or 0)

    def holds(self, ours, theirs):
        if self.none or ours is None or theirs is None:
            return self.none and (ours is None or theirs is None)
        return abs(ours - theirs) <= self.percent / 100 * abs(theirs) + self.more


class Causes:
    """causes.csv: group, label and metric (regular expressions, matched in full), the cause of the difference, and how large
    it may be."""

    def __init__(self):
        self.rows = read_csv(os.path.join(HERE, "causes.csv"))
        self.bounds = [Bound(row["at most"]) for row in self.rows]
        self.seen = [(0.0, 0.0)] * len(self.rows)  # largest difference in per cent, and as it is where the GPU has 0

    def find(self, group, label, metric, ours, theirs):
        for i, row in enumerate(self.rows):
            if all(re.fullmatch(row[k], v) for k, v in (("group", group), ("label", label), ("metric", metric))):
                a, b = (None, None) if metric == "output_fnv1a64" else (number(ours), number(theirs))
                if a is not None and b is not None:
                    percent, more = self.seen[i]
                    self.seen[i] = (max(percent, 100 * abs(a - b) / abs(b)), more) if b else (percent, max(more, abs(a)))
                return row["cause"] if self.bounds[i].holds(a, b) else None
        return None

    def print_seen(self):
        """For setting the bounds: the largest difference that each row explained, or would have."""
        for row, (percent, more) in zip(self.rows, self.seen):
            print(f"{percent:10.3f} %, {more:8.0f} of {row['at most']:>14}  {row['group']}  {row['label']}  {row['metric'][:70]}")


def compare(group, launches, hashes, causes, verbose):
    truth = read_csv(os.path.join(DATA, f"micro_{group}.csv"))
    result = collections.Counter()
    by_cause = collections.Counter()
    unexplained = []
    if len(launches) != len(truth):
        unexplained.append(f"{group}: {len(launches)} launches, the GPU made {len(truth)}")
    for index, (ours, theirs) in enumerate(zip(launches, truth)):
        checks = [(m, v) for m, v in theirs.items() if m not in ("label", "output_fnv1a64", "kernel", "block", "grid")]
        if index < len(hashes):
            ours = dict(ours, output_fnv1a64=hashes[index])
            checks.append(("output_fnv1a64", theirs["output_fnv1a64"]))
        for metric, value in checks:
            if value == "":
                continue
            got = ours.get(metric)
            if got is not None and same(got, value):
                result["equal"] += 1
                continue
            cause = causes.find(group, theirs["label"], metric, got, value)
            if cause is None:
                result["unexplained"] += 1
                unexplained.append(f"{group}: {theirs['label']}: {metric}: {got}, GPU {value}")
            else:
                result["explained"] += 1
                by_cause[cause] += 1
                if verbose:
                    print(f"  {theirs['label']}: {metric}: {got}, GPU {value}: {cause}")
    return result, by_cause, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpgrind", default="build/bin/warpgrind")
    parser.add_argument("--program", required=True)
    parser.add_argument("--show", type=int, default=40, help="unexplained differences printed")
    parser.add_argument("--verbose", action="store_true", help="print explained differences too")
    parser.add_argument("--bounds", action="store_true", help="print how far each row of causes.csv was used")
    parser.add_argument("group", nargs="*")
    options = parser.parse_args()
    if not os.path.exists(options.program):
        print(f"skipped: {options.program} is not there: it is built where nvcc is installed")
        return 77

    causes = Causes()
    total, all_causes, unexplained, failed = collections.Counter(), collections.Counter(), [], []
    print(f"{'group':12} {'launches':>8} {'values':>8} {'equal':>8} {'different':>10} {'unexplained':>12}")
    for group in options.group or groups():
        launches, hashes = run(options.warpgrind, options.program, group)
        if launches is None:
            failed.append(group)
            continue
        result, by_cause, problems = compare(group, launches, hashes, causes, options.verbose)
        values = sum(result.values())
        print(f"{group:12} {len(launches):8} {values:8} {result['equal']:8} {result['explained']:10} {result['unexplained']:12}",
              flush=True)
        total.update(result)
        all_causes.update(by_cause)
        unexplained += problems
    print(f"{'all':12} {'':8} {sum(total.values()):8} {total['equal']:8} {total['explained']:10} {total['unexplained']:12}")
    if all_causes:
        print("\nDifferences by cause")
        for cause, count in all_causes.most_common():
            print(f"{count:8}  {cause}")
    if unexplained:
        print(f"\nUnexplained ({len(unexplained)})")
        for line in unexplained[: options.show]:
            print("  " + line)
    if options.bounds:
        causes.print_seen()
    if failed:
        print("\nDid not run: " + " ".join(failed))
    return 1 if unexplained or failed else 0


if __name__ == "__main__":
    sys.exit(main())
