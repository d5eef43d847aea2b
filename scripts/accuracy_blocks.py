#!/usr/bin/env python3
"""Errors of counts and times if only some blocks of a launch run: writes docs/accuracy-blocks.md.

    scripts/accuracy_blocks.py --build build                   compares, exit code 1 if an error exceeds the bounds below
    scripts/accuracy_blocks.py --build build --topic matmul    the same of one topic; may be repeated
    scripts/accuracy_blocks.py --build build --write           also writes docs/accuracy-blocks.md

Runs all topics of the lab twice, whole and with `warpgrind run --sample-blocks N`, at sizes that run whole in seconds.
Compares all sums of each row (NVTX range) of which the second run left out blocks, and lists the kernels that ran whole.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "accuracy-blocks.md")
BLOCKS = 16
# Topic, its arguments: grids of hundreds or thousands of blocks. Odd sizes are no multiple of any tile.
RUNS = [("transpose", ["2048,1999x3001"]),
        ("matmul", ["768,700x777x601", "--rung", "naive", "--rung", "tiled", "--rung", "registers*", "--rung", "double buffer"]),
        ("vecadd", ["4194304,4194301", "--rung", "chunked", "--rung", "one element", "--rung", "grid stride", "--rung", "unrolled",
                    "--rung", "float4"]),
        ("reduction", ["2097152,2097143"]), ("local", ["524288"]), ("image", ["540x960"]), ("poisson", ["768x700", "--converge", "24"]),
        ("gemm", ["512", "--rung", "one element", "--rung", "two*", "--rung", "four*", "--rung", "shared*", "--rung", "registers*",
                  "--rung", "double buffer", "--rung", "tensor cores", "--rung", "stages", "--rung", "fitted"]),
        ("hgemm", ["512", "--rung", "one element", "--rung", "tile", "--rung", "tensor cores", "--rung", "stages", "--rung", "warpgroups",
                   "--rung", "ring", "--rung", "clusters", "--rung", "persistent"]),
        ("coalescing", ["1048576", "--k", "0,1,8,17,32"]), ("banks", ["64"]), ("constant", ["1048576"]), ("divergence", ["1048576"]),
        ("texture", ["768x700"]), ("occupancy", ["4194304"]), ("bandwidth", ["4194304"]), ("streams", ["4194304"])]
# Name of the class, pattern of its metrics, largest error. The first that fits counts.
CLASSES = [("time", r"gpu__time", 0.03), ("DRAM", r"^dram__", 0.01),
           ("caches", r"^lts__|hit|miss|l1_passes|^l1tex__m_|footprint|translation|^warpgrind__l2|^warpgrind__l1", 0.01),
           ("shared memory", r"shared|bank_conflicts", 0.01), ("global and local memory", r"l1tex__|global|local|sectors", 0.01),
           ("instructions", r".", 0.01)]
# A branch that diverges in one block of a grid is not in the sample, so divergent branches count in parts of all.
# Hits are a difference, lookups less misses, and count in parts of the lookups, as hit rates do.
PART_OF = {r"divergent": "warpgrind__branches.sum", r"^lts__.*lookup_hit": "lts__t_sectors_srcunit_tex.sum",
           r"^warpgrind__l1_lookup_hit": "warpgrind__l1_lookups.sum"}


def run(build, topic, arguments, options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        command = [os.path.join(build, "bin/warpgrind"), "run", *options, "--json", path, os.path.join(build, "lab", topic), *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode not in (0, 1) or not os.path.exists(path):
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-2000:]}")
        with open(path) as f:
            return json.load(f)


def rung_of(name):
    """A row's range is TOPIC:RUNG:SIZE:TYPE and its parameters."""
    parts = name.split(":")
    return parts[1] if len(parts) > 1 else name


def class_of(metric):
    return next(title for title, pattern, _ in CLASSES if re.search(pattern, metric))


def errors_of(whole, some):
    """{class: (worst error, metric)} of all sums that are sampled."""
    out = {}
    for name, metric in some.items():
        if metric["origin"] != "sampled" or not name.endswith(".sum") or name not in whole:
            continue
        if "low" in name or "high" in name:
            continue
        all_of = whole[name]["value"]
        if all_of == 0 and metric["value"] == 0:
            continue
        part_of = next((of for pattern, of in PART_OF.items() if re.search(pattern, name) and of in whole), name)
        base = abs(whole[part_of]["value"])
        error = abs(metric["value"] - all_of) / base if base else float("inf")
        title = class_of(name)
        if error >= out.get(title, (-1, ""))[0]:
            out[title] = (error, name)
    return out


def compare(build, topics, blocks, options):
    """Rows (topic, rung, blocks that ran, blocks, {class: (error, metric)}), and reasons {topic: {reason: kernels}}."""
    rows, reasons = [], collections.defaultdict(lambda: collections.defaultdict(list))
    for topic, arguments in RUNS:
        if topics and topic not in topics:
            continue
        print(f"{topic} {' '.join(arguments)}", flush=True)
        whole = {r["range"]: r["metrics"] for r in run(build, topic, arguments, ["--quiet", *options])["ranges"]}
        some = run(build, topic, arguments, ["--quiet", "--sample-blocks", str(blocks), *options])
        for finding in some["findings"]:
            if finding["kind"] == "some-blocks" and finding.get("kernel"):
                reasons[topic][re.sub(r"^all blocks ran despite [^:]*: ", "", finding["message"])].append(finding["kernel"])
        for r in some["ranges"]:
            ran = r["metrics"].get("warpgrind__blocks_run.sum", {}).get("value", 0)
            if not ran or r["range"] not in whole:
                continue
            all_of = whole[r["range"]]
            count = all_of["launch__thread_count"]["value"] / max(1, all_of["launch__block_size"]["value"])
            rows.append((topic, r["range"], ran, count, errors_of(all_of, r["metrics"])))
    return rows, reasons


INTRODUCTION = """# Counts and times from some blocks

`scripts/accuracy_blocks.py --build BUILD --write` writes this document. It runs all topics of the lab with
`warpgrind run --sample-blocks {blocks}`, and the same whole. Errors are |sampled / whole - 1|, the worst of all sums of
a class (all metrics of the profile that add up over launches), over all sizes, types and parameters of a rung. Those
of divergent branches are in parts of all branches, those of hits in parts of the lookups.

`warpgrind run --sample-blocks N` runs about N blocks of each launch whose blocks are alike, and scales counts to the grid.
**Results are not computed.** Every number that rests on such a launch has the origin *sampled*: in the table of the run,
the profile, the page, and in `diff`. `warpgrind__blocks_run.sum` says how many blocks ran. The end of the run names the
kernels whose results were not computed.

## Which blocks run

- **Classes.** A grid has up to 27: first, last or between them, in x, y and z. Each is sampled and scaled by itself, since
  blocks at an edge often do other work. A class of less than 2 % of the blocks gives one block, or two (N of 32 and more).
- **Parts.** Each larger class is drawn in four parts, each spread evenly over the class. If the parts differ, as many blocks again
  are drawn. They differ if the standard error of a total is above 0.25 %. The totals are instructions, lanes, branches, and
  requests, sectors, lines, wavefronts, bytes and bank conflicts of each kind of access. Of short blocks up to 8 N are drawn at once. When half of the grid has run, the other half runs too, and the counts are exact.
- **Caches.** The modelled caches see the same logged blocks as in a whole run: neighbours on a few SMs, and the middle
  of the grid. These blocks run beside the sample. So hit rates and DRAM bytes differ only as counts do.
- A grid of fewer than 2 N blocks runs whole, and its numbers keep their origins.

## What runs whole

- kernels that depend on data: a branch, a guard or an address is computed from memory that a kernel may have written, or
  from a clock. That is global memory, and shared and local memory if such a value is stored there. Parameters,
  constant memory and indexes are known. A static analysis of the PTX decides (`flow/data_dependence.h`), functions that
  the kernel calls included. `--blocks N` samples such kernels, too. Then the counts are those of data that may be wrong;
- cooperative launches, clusters, launches from the device;
- kernels that read the result of an atomic operation on global memory;
- kernels with volatile or ordered loads of global memory: their blocks may wait for each other;
- kernels whose blocks differ too much.

The run names each of them and why. After sampled kernels their data may be wrong, and the run says that, too. Two things are
not detected: a host that decides by a result how often it launches, and rare blocks. If one block of a thousand does other work,
it is mostly not in the sample (edges always are). Copies are done and timed as ever.
"""


def markdown(rows, reasons, blocks):
    text = [INTRODUCTION.format(blocks=blocks), "## Errors", "",
            "| topic | rung | rows | blocks that ran | " + " | ".join(title for title, _, _ in reversed(CLASSES)) + " |",
            "|---|---|---|---|" + "---|" * len(CLASSES)]
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[0], rung_of(row[1])].append(row)
    for (topic, rung), own in groups.items():
        shares = [100 * row[2] / row[3] for row in own]
        cells = []
        for title, _, _ in reversed(CLASSES):
            worst = [row[4][title][0] for row in own if title in row[4]]
            cells.append(f"{100 * max(worst):.2f} %" if worst else "")
        text.append(f"| {topic} | {rung} | {len(own)} | {min(shares):.1f} to {max(shares):.1f} % | " + " | ".join(cells) + " |")
    text += ["", "## Kernels that ran whole", "", "| topic | why | kernels |", "|---|---|---|"]
    for topic, of_topic in reasons.items():
        for why, kernels in of_topic.items():
            names = sorted({re.sub(r"[<(].*", "", k).split("::")[-1].split(" ")[-1] for k in kernels})
            text.append(f"| {topic} | {why} | {', '.join('`' + n + '`' for n in names)} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--topic", action="append", default=[])
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    missing = [topic for topic, _ in RUNS if not os.path.exists(os.path.join(options.build, "lab", topic))]
    if missing:
        print(f"skipped: not built: {', '.join(missing)}")
        return 77
    rows, reasons = compare(options.build, options.topic, options.blocks, ["--gpu", options.gpu])
    bounds = {title: most for title, _, most in CLASSES}
    bad = 0
    for topic, name, ran, blocks, errors in rows:
        wrong = [f"{metric} {100 * e:.2f} %" for title, (e, metric) in errors.items() if e > bounds[title]]
        bad += bool(wrong)
        print(f"{name:60} {ran:6.0f} of {blocks:7.0f} blocks  " +
              "  ".join(f"{title} {100 * e:.2f} %" for title, (e, _) in errors.items() if e > 0.0005) +
              ("  TOO FAR OFF: " + ", ".join(wrong) if wrong else ""))
    for topic, of_topic in reasons.items():
        for why, kernels in of_topic.items():
            print(f"{topic}: whole: {len(kernels)} kernels, such as {kernels[0]}: {why}")
    print(f"{len(rows)} rows compared, {bad} too far off")
    if options.write:
        with open(PAGE, "w") as f:
            f.write(markdown(rows, reasons, options.blocks))
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
