#!/usr/bin/env python3
"""Compares the counters of the lab's kernels with those of a real H200, launch by launch.

    tests/h200/compare_lab.py --build BUILD [TOPIC ...]          the table of equal and different; exit code 1: unexplained
    tests/h200/compare_lab.py --import NCU.csv TOPIC COMMENT     makes lab/results/h200/counters/TOPIC.csv
    tests/h200/compare_lab.py --metrics                          the list for `ncu --metrics`

A topic's file holds what `ncu --csv --page raw --print-units base --cache-control all --clock-control none --metrics LIST
PROGRAM --sizes SIZES --once` printed on the GPU, one line a launch. COMMENT, its first line, holds this command: the same program runs
here on the virtual H200 with the same sizes and must make the same launches in the same order. Differences need a cause in tests/h200/causes.csv (group: the topic; label: the
kernel). What only the GPU runs (libraries) has no counterpart: those launches are named and left out.
"""
import argparse
import collections
import csv
import os
import re
import sys

import compare as micro

ROOT = os.path.join(micro.HERE, "..", "..")
FOLDER = os.path.join(ROOT, "lab", "results", "h200", "counters")
PLACE = ("kernel", "block", "grid")
SIZES = re.compile(r" --sizes (\S+) --once")  # in the first line of a record


def metrics():
    """Counters that the microbenchmark's files have for every kernel: those that repeat exactly on the hardware."""
    with open(os.path.join(micro.DATA, "micro_misc.csv"), newline="") as f:
        names = next(csv.reader(line for line in f if not line.startswith("#")))
    return [n for n in names if "__" in n or n.startswith(("memory_", "sass_", "inst_", "thread_"))]


def short(kernel):
    """The kernel's name without return type and parameters."""
    depth, end = 0, len(kernel)
    for i, c in enumerate(kernel):
        depth += {"<": 1, ">": -1}.get(c, 0)
        if c == "(" and depth == 0 and not kernel[i:].startswith("(anonymous namespace)"):
            end = i
            break
    name = kernel[:end]
    depth = 0
    for i in range(len(name) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(name[i], 0)
        if name[i] == " " and depth == 0:
            return name[i + 1:]
    return name


def import_file(path, topic, comment):
    if not SIZES.search(comment):
        sys.exit(f"the comment must hold the command with its sizes (... {topic} --sizes SIZES --once), not: {comment}")
    with open(path, newline="") as f:
        lines = [line for line in f if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]
    names = [n for n in metrics() if n in rows[0]]
    os.makedirs(FOLDER, exist_ok=True)
    target = os.path.join(FOLDER, f"{topic}.csv")
    with open(target, "w", newline="") as f:
        f.write(f"# {comment}\n")
        out = csv.writer(f, lineterminator="\n")
        out.writerow([*PLACE, *names])
        for row in rows:
            out.writerow([short(row["Kernel Name"]), row["Block Size"], row["Grid Size"],
                          *(row[n].replace(",", "") for n in names)])
    print(f"{target}: {len(rows)} launches, {len(names)} counters")


def run(build, topic):
    with open(os.path.join(FOLDER, f"{topic}.csv")) as f:
        sizes = SIZES.search(f.readline())[1]
    done = micro.run_once(os.path.join(build, "bin/warpgrind"), os.path.join(build, "lab", topic), ["--sizes", sizes, "--once"])
    if done is None:
        return None
    launches = collections.OrderedDict()
    for row in done[1]:
        launch = launches.setdefault(int(row["ID"]), {"kernel": short(row["Kernel Name"]), "block": row["Block Size"],
                                                      "grid": row["Grid Size"]})
        launch[row["Metric Name"]] = row["Metric Value"]
    return list(launches.values())


def name(row):
    """Name of a kernel without template arguments and namespaces: demanglers spell them differently ((bool)1, true)."""
    return row["kernel"].split("<")[0].split("::")[-1]


def pair(ours, theirs):
    """Launches of the same kernel and shape, in order; and the GPU's own without a counterpart."""
    waiting = collections.defaultdict(collections.deque)
    key = lambda row: (name(row), row["block"].replace(" ", ""), row["grid"].replace(" ", ""))
    for row in ours:
        waiting[key(row)].append(row)
    pairs, alone = [], []
    for row in theirs:
        queue = waiting[key(row)]
        if queue:
            pairs.append((queue.popleft(), row))
        else:
            alone.append(row)
    return pairs, alone, [row for queue in waiting.values() for row in queue]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--import", dest="source", nargs=3, metavar=("NCU.csv", "TOPIC", "COMMENT"))
    parser.add_argument("--metrics", action="store_true")
    parser.add_argument("--built-by", choices=("nvcc", "clang"), default="nvcc", help="the compiler of the lab's programs")
    parser.add_argument("--show", type=int, default=60, help="unexplained differences printed")
    parser.add_argument("--bounds", action="store_true", help="print how far each row of causes.csv was used")
    parser.add_argument("topic", nargs="*")
    options = parser.parse_args()
    if options.metrics:
        print(",".join(metrics()))
        return 0
    if options.source:
        import_file(*options.source)
        return 0

    if options.built_by != "nvcc":
        print("skipped: the hardware's counters are of nvcc's code, and these programs were built without it")
        return 77

    stored = sorted(n[:-4] for n in os.listdir(FOLDER) if n.endswith(".csv")) if os.path.isdir(FOLDER) else []
    causes = micro.Causes()
    total, by_cause, unexplained, failed, skipped = collections.Counter(), collections.Counter(), [], [], []
    print(f"{'topic':12} {'launches':>8} {'GPU only':>8} {'values':>8} {'equal':>8} {'different':>10} {'unexplained':>12}")
    for topic in options.topic or stored:
        if not os.path.exists(os.path.join(options.build, "lab", topic)):
            skipped.append(topic)
            continue
        ours = run(options.build, topic)
        if ours is None:
            failed.append(topic)
            continue
        theirs = micro.read_csv(os.path.join(FOLDER, f"{topic}.csv"))
        pairs, gpu_only, ours_only = pair(ours, theirs)
        count = collections.Counter()
        with open(os.path.join(FOLDER, f"{topic}.csv")) as f:
            partial = "partial" in f.readline()  # the GPU's tool was stopped: it did not see the later launches
        recorded = {name(row) for row in theirs}
        newer = sorted({name(row) for row in ours_only} - recorded)  # kernels that came after the record was taken
        if newer:
            print(f"not recorded on the GPU yet: {topic}: {', '.join(newer)}")
        for row in [] if partial else [row for row in ours_only if name(row) in recorded]:
            unexplained.append(f"{topic}: {row['kernel']} {row['grid']} {row['block']} was not launched on the GPU")
        for mine, real in pairs:
            for metric, value in real.items():
                if metric in PLACE or value == "":
                    continue
                got = mine.get(metric)
                if got is not None and micro.same(got, value):
                    count["equal"] += 1
                    continue
                cause = causes.find(topic, real["kernel"], metric, got, value)
                count["explained" if cause else "unexplained"] += 1
                if cause:
                    by_cause[cause] += 1
                else:
                    unexplained.append(f"{topic}: {real['kernel']} {real['grid']}: {metric}: {got}, GPU {value}")
        print(f"{topic:12} {len(pairs):8} {len(gpu_only):8} {sum(count.values()):8} {count['equal']:8} "
              f"{count['explained']:10} {count['unexplained']:12}", flush=True)
        total.update(count)
    print(f"{'all':12} {'':8} {'':8} {sum(total.values()):8} {total['equal']:8} {total['explained']:10} "
          f"{total['unexplained']:12}")
    if by_cause:
        print("\nDifferences by cause")
        for cause, n in by_cause.most_common():
            print(f"{n:8}  {cause}")
    if unexplained:
        print(f"\nUnexplained ({len(unexplained)})")
        for line in unexplained[: options.show]:
            print("  " + line)
    if skipped:
        print("\nskipped, not built here: " + " ".join(skipped))
    if options.bounds:
        causes.print_seen()
    if failed:
        print("\nDid not run: " + " ".join(failed))
    if not stored:
        return 77
    return 1 if unexplained or failed else 0


if __name__ == "__main__":
    sys.exit(main())
