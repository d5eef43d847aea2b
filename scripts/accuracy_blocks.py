#!/usr/bin/env python3
"""Errors of counts and times if only some blocks of a launch run: writes docs/accuracy-blocks.md.

    scripts/accuracy_blocks.py --build build            compares, exit code 1 if an error exceeds the bounds below
    scripts/accuracy_blocks.py --build build --write    also writes docs/accuracy-blocks.md

Runs programs of the lab twice, whole and with `warpgrind run --blocks N`. Compares each rung (named range) in which the
second run left out blocks.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "accuracy-blocks.md")
BLOCKS = 64
# Program, sizes: grids of thousands of blocks that run whole in seconds; the second is no multiple of any tile.
RUNS = [("transpose", "2048,1999x3001"), ("matmul", "1024,1000x777x1234"), ("vecadd", "16777216,10000019"),
        ("reduction", "4194304,4194301"), ("local", "524288")]
RUNGS = {"matmul": ["naive", "tiled", "registers*", "double buffer"], "vecadd": ["chunked", "one element", "grid stride", "unrolled", "float4"]}
COUNTS = [("instructions", "warpgrind__ptx_inst_executed.sum"),
          ("load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
          ("store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
          ("bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
          ("divergent branches", "warpgrind__divergent_branches.sum"),
          ("DRAM bytes read", "dram__bytes_read.sum"), ("time", "gpu__time_duration.sum")]
# The largest error of a rung, and the median over all rungs.
MOST, MEDIAN = 0.02, 0.005


def ranges(build, program, sizes, options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        command = [os.path.join(build, "bin/warpgrind"), "run", "--quiet", *options, "--json", path,
                   os.path.join(build, "lab", program), sizes]
        for rung in RUNGS.get(program, []):
            command += ["--rung", rung]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-2000:]}")
        with open(path) as f:
            return {r["range"]: r["metrics"] for r in json.load(f)["ranges"]}


def value(metrics, name):
    return metrics.get(name, {}).get("value", 0)


def compare(build):
    """Rows (program, range, blocks that ran, blocks, {count: error})."""
    out = []
    for program, sizes in RUNS:
        whole = ranges(build, program, sizes, [])
        some = ranges(build, program, sizes, ["--blocks", str(BLOCKS)])
        for name, metrics in some.items():
            ran = value(metrics, "warpgrind__blocks_run.sum")
            if not ran or name not in whole:
                continue
            blocks = value(whole[name], "launch__thread_count") / max(1, value(whole[name], "launch__block_size"))
            errors = {}
            for title, metric in COUNTS:
                all_of, of_some = value(whole[name], metric), value(metrics, metric)
                base = value(whole[name], "warpgrind__branches.sum") if title.startswith("divergent") else all_of
                if all_of > 0:
                    errors[title] = abs(of_some - all_of) / base
            out.append((program, name, ran, blocks, errors))
    return out


def markdown(rows):
    text = ["# How good counts from some blocks are", "",
            "`scripts/accuracy_blocks.py --build BUILD --write` writes this document. It runs rungs of the lab with",
            f"`warpgrind run --blocks {BLOCKS}`, and the same rungs whole. Errors are |some / all - 1|. Those of divergent branches",
            "are in parts of all branches, since a branch that diverges in a single block is mostly not among those that run.", "",
            "`--blocks N` runs about N blocks of each launch, spread evenly over the grid, the first and the last among them. It",
            "scales the counts of the blocks between to the number of blocks. Blocks that only the modelled caches look at run as",
            "well and are not counted. The option is meant for grids whose blocks are alike, at sizes that would take too long",
            "whole. All counts of such a launch are *modelled*, and the program's results are not valid. The lab's programs say",
            "\"not verified\", and the profile has a warning of kind `some-blocks`.", "",
            "A launch runs whole where blocks may wait for each other, or choose their ways by results of others:", "",
            "- cooperative launches, clusters, launches from the device;",
            "- kernels that read the result of an atomic operation on global memory;",
            "- kernels with volatile or ordered loads of global memory.", "",
            "The warning names such a kernel. Two cases are not detected: a kernel whose ways depend on data that an earlier kernel",
            "should have written, and a host that decides by a result how often it launches.", "",
            "| program | rungs | blocks that ran | " + " | ".join(title for title, _ in COUNTS) + " |",
            "|---|---|---|" + "---|" * len(COUNTS)]
    for program in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == program]
        shares = [row[2] / row[3] for row in own]
        cells = []
        for title, _ in COUNTS:
            errors = [row[4][title] for row in own if title in row[4]]
            cells.append(f"{100 * statistics.median(errors):.2f} %, worst {100 * max(errors):.2f} %" if errors else "")
        text.append(f"| {program} | {len(own)} | {100 * min(shares):.1f} to {100 * max(shares):.1f} % | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    missing = [program for program, _ in RUNS if not os.path.exists(os.path.join(options.build, "lab", program))]
    if missing:
        print(f"skipped: not built: {', '.join(missing)}")
        return 77
    rows = compare(options.build)
    bad = 0
    for program, name, ran, blocks, errors in rows:
        worst = max(errors.values(), default=0)
        bad += worst > MOST
        print(f"{name:55} {ran:6.0f} of {blocks:7.0f} blocks  " +
              "  ".join(f"{title} {100 * e:.2f} %" for title, e in errors.items() if e > 0.0005) +
              ("  TOO FAR OFF" if worst > MOST else ""))
    for title, _ in COUNTS:
        errors = [row[4][title] for row in rows if title in row[4]]
        if errors and statistics.median(errors) > MEDIAN:
            print(f"{title}: median error {100 * statistics.median(errors):.2f} % is more than {100 * MEDIAN:.1f} %")
            bad += 1
    print(f"{len(rows)} rungs compared")
    if options.write:
        with open(PAGE, "w") as f:
            f.write(markdown(rows))
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
