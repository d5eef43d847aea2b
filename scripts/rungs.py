#!/usr/bin/env python3
"""Writes the tables of docs/rungs.md, from the measurements in lab/results: h200/rungs.csv, h200/hgemm.json, h100/multigpu-x4.json.

    scripts/rungs.py            replaces the text between the marks
    scripts/rungs.py --check    exit code 1 if a table is out of date

Marks are those of readme_figures.py; the function NAME below (with _ for -) returns the text.
"""
import csv
import json
import os
import sys

from readme_figures import MARK

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "rungs.md")
RESULTS = os.path.join(ROOT, "lab", "results")
INPUTS = ("uniform", "picture", "one")

# Title, rung, part of the file, sizes, first word of the rung's variants, library, limit, goal (at least; of a time at most).
# With several sizes the slowest counts.
JOBS = [
    ("DGEMM 4096", "gemm `fitted`", "dgemm", ["4096x4096x4096"], "fitted", "cuBLAS", "67", 62),
    ("SGEMM 4096", "gemm `fitted`", "sgemm", ["4096x4096x4096"], "fitted", "cuBLAS", "63.6", 53),
    ("HGEMM 8192, half", "hgemm `persistent`", "half", ["8192x8192x8192"], "persistent", "cuBLAS", "989", 676),
    ("the same in bfloat16", "hgemm `persistent`", "bfloat16", ["8192x8192x8192"], "persistent", "cuBLAS", "989", 709),
    ("histogram, 1 GiB of bytes, the slowest of three inputs", "image `histogram / lanes`", "histogram",
     [f"1024MiB {name}" for name in INPUTS], "lanes 1024x2", "CUB", "4697", 3500),
    ("histogram, 64 MiB, likewise", "image `histogram / lanes`", "histogram", [f"64MiB {name}" for name in INPUTS],
     "lanes 1024x2", "CUB", "4697", 3500),
    ("sum of 2^28 ints", "reduction `dealt`", "sum", ["1024MiB"], "dealt", "CUB", "4697", 4450),
    ("transpose 16384^2 float", "transpose `long pieces`", "transpose", ["16384x16384"], "64x", "cublasSgeam", "4300 (copy)", 4150),
    ("copy 1 GiB", "bandwidth `copy tiles`", "copy", ["1024MiB"], "256x1", "cudaMemcpy", "-", 4250),
    ("Jacobi float 16384^2, a sweep", "poisson `ring8`", "jacobi_float", ["16384x16384"], "ring8", "torch.compile",
     "500 us without temporal blocking", 200),
    ("Jacobi double 8192^2, a sweep", "poisson `ring8`", "jacobi_double", ["8192x8192"], "ring8", "", "250 us without", 110),
    ("blur of 17 taps, 8192^2 float", "image `blur / stream` (7 taps there)", "blur17", ["8192x8192"], "stream", "",
     "535: 8 bytes a pixel at the copy's rate", 200),
]
# Title, rung, part of the file, the rung before, variant that the lab launches, limits in us at 2160 x 3840 and 4320 x 7680.
PICTURES = [
    ("blur of 7 x 7 by texture, float", "image `blur / gather`", "blur7", "texture", "gather ahead 1 w1", (18.2, 64.8)),
    ("median 5 x 5, bytes", "image `median 5x5 / tiles`", "median5", "network", "tiles w4", (16.2, 56.8)),
    ("cosine transform, quantised, and back", "image `dct / registers`", "dct", "shared", "registers w1", (10.5, 33.7)),
    ("matching with a piece of 16 x 16", "image `match / warpgroups`", "match", "constant", "warpgroups", (12.4, 41.5)),
]
ELSEWHERE = {"torch.compile": "torch.compile 632 us (earlier run)"}  # not measured by these programs


def measured():
    """{(part, size): {variant: (us, rate, unit)}}. Of a library that ran twice, the faster."""
    found = {}
    with open(os.path.join(RESULTS, "h200", "rungs.csv"), encoding="utf-8") as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            assert row["verified"] == "yes", row
            variants = found.setdefault((row["part"], row["size"]), {})
            one = (float(row["us"]), float(row["rate"]), row["unit"])
            variants[row["variant"]] = min(one, variants.get(row["variant"], one))
    with open(os.path.join(RESULTS, "h200", "hgemm.json"), encoding="utf-8") as f:
        for topic in json.load(f)["topics"]:
            for row in topic["rows"]:
                name = "cuBLAS" if row["rung"] == "cublas" else row["rung"]
                one = (row["gpu_us"]["median"], row["derived"]["gflops"] / 1000, "TFLOP/s")
                found.setdefault((row["type"], row["size_text"]), {})[name] = one
    return found


def fastest(variants, name):
    return min(value for key, value in variants.items() if key.startswith(name))


def number(rate):
    return f"{rate:.1f}" if rate < 100 else f"{rate:.0f}"


def jobs(found):
    lines = ["| job | rung | ours | best library | limit | goal | met |", "|---|---|---|---|---|---|---|"]
    for title, rung, part, sizes, ours, library, limit, goal in JOBS:
        mine = [fastest(found[part, size], ours) for size in sizes]
        slowest = max(mine)
        timed = part.startswith("jacobi")
        met = slowest[0] <= goal if timed else slowest[1] >= goal
        us, rate, unit = slowest
        theirs = ELSEWHERE.get(library, "-")
        said = "yes" if met else "no"
        if library and library not in ELSEWHERE:
            rates = [fastest(found[part, size], library)[1] for size in sizes]
            theirs = f"{library} {number(min(rates))}" + (f" to {number(max(rates))}" if len(rates) > 1 else "")
            if not met and all(m[1] > r for m, r in zip(mine, rates)):
                said = "no, ahead of the library" + (" on each input" if len(sizes) > 1 else "")
        shown = f"{us:.1f} us" if timed else f"{number(rate)} {unit}"
        lines.append(f"| {title} | {rung} | {shown} | {theirs} | {limit} | {f'<= {goal} us' if timed else f'>= {goal}'} | {said} |")
    return lines


def beside(found, parts, titles, sizes, ours):
    lines = [f"| M x N x K | {titles[0]}: ours / cuBLAS | | {titles[1]}: ours / cuBLAS | |", "|---|---|---|---|---|"]
    for size in sizes:
        cells = []
        for part in parts:
            mine, library = fastest(found[part, size], ours)[1], fastest(found[part, size], "cuBLAS")[1]
            cells.append(f"{number(mine)} / {number(library)} | {100 * mine / library:.0f} %")
        lines.append(f"| {size.replace('x', ' x ')} | " + " | ".join(cells) + " |")
    return lines


def products(found):
    return beside(found, ("dgemm", "sgemm"), ("double", "float"), ("1024x1024x1024", "1001x1777x1235", "2000x3000x1500"), "fitted")


def half_products(found):
    sizes = ("4096x4096x4096", "2048x2048x2048", "1024x1024x1024", "1000x1032x520")
    return beside(found, ("half", "bfloat16"), ("half", "bfloat16"), sizes, "persistent")


def histograms(found):
    lines = ["| 64 MiB, H200, us | " + " | ".join(INPUTS) + " | 1 GiB, uniform |", "|---|---|---|---|---|"]
    for title, name in (("`histogram / lanes`", "lanes 1024x2"), ("the same loads, nothing counted", "only reads"), ("CUB", "CUB")):
        cells = [fastest(found["histogram", f"64MiB {which}"], name)[0] for which in INPUTS]
        cells.append(fastest(found["histogram", "1024MiB uniform"], name)[0])
        lines.append(f"| {title} | " + " | ".join(f"{us:.1f}" for us in cells) + " |")
    return lines


def pictures(found):
    lines = ["| job, 2160 x 3840 (4320 x 7680) | before | NPP | rung | ours, us | limit, us | ours / limit | within 1.3 |",
             "|---|---|---|---|---|---|---|---|"]
    for title, rung, part, before, ours, limits in PICTURES:
        small, large = (found[part, size] for size in ("2160x3840", "4320x7680"))
        mine = [fastest(variants, ours)[0] for variants in (small, large)]
        shares = [us / limit for us, limit in zip(mine, limits)]
        theirs = f"{number(fastest(small, 'NPP')[0])}" if "NPP" in small else "has none"
        met = "yes" if max(shares) <= 1.3 else "only at 4320 x 7680" if shares[1] <= 1.3 else "no"
        lines.append(f"| {title} | {number(fastest(small, before)[0])} ({number(fastest(large, before)[0])}) | {theirs} | {rung} | "
                     f"{mine[0]:.1f} ({mine[1]:.1f}) | {limits[0]} ({limits[1]}) | {shares[0]:.2f} ({shares[1]:.2f}) | {met} |")
    return lines


def small_pictures(found):
    lines = ["| job, 1000 x 777, us | rung | rung before | NPP |", "|---|---|---|---|"]
    for title, _, part, before, ours, _ in PICTURES:
        variants = found[part, "1000x777"]
        theirs = number(fastest(variants, "NPP")[0]) if "NPP" in variants else "-"
        lines.append(f"| {title.split(' ')[0] if part != 'dct' else 'cosine transform'} | {fastest(variants, ours)[0]:.1f} | "
                     f"{number(fastest(variants, before)[0])} | {theirs} |")
    return lines


def several_gpus(_):
    """Speed-ups over one GPU; of `weak`, whose domain grows with the GPUs, the efficiency."""
    with open(os.path.join(RESULTS, "h100", "multigpu-x4.json"), encoding="utf-8") as f:
        rows = {(r["rung"], r["size"][1], int(r["parameters"]["devices"])): r["gpu_us"]["median"] for r in json.load(f)["topics"][0]["rows"]}
    sizes = (8192, 16384)
    lines = ["| rung | " + " | ".join(f"{n}^2: ms with 1 / 2 / 4 GPUs | 2 | 4" for n in sizes) + " |", "|---" * (1 + 3 * len(sizes)) + "|"]
    for rung in ("peer_copy", "overlap", "overlap_graph", "peer_load", "weak"):
        cells = []
        for n in sizes:
            times = [rows["one_gpu" if rung != "weak" else rung, n, 1], rows[rung, n, 2], rows[rung, n, 4]]
            gains = [f"{100 * times[0] / t:.1f} %" if rung == "weak" else f"{times[0] / t:.2f}x" for t in times[1:]]
            cells += [" / ".join(f"{t / 1000:.2f}" for t in times), *gains]
        lines.append(f"| {rung} | " + " | ".join(cells) + " |")
    times = [rows["matmul", 2048, devices] for devices in (1, 2, 4)]
    cells = [" / ".join(f"{t / 1000:.2f}" for t in times), *(f"{times[0] / t:.2f}x" for t in times[1:])]
    lines.append("| matmul 2048^2 | " + " | ".join(cells) + " | | | |")
    return lines


def main():
    with open(PAGE, encoding="utf-8") as f:
        old = f.read()
    found = measured()
    new = MARK.sub(lambda m: m[1] + "\n".join(globals()[m[2].replace("-", "_")](found)) + "\n" + m[4], old)
    if new == old:
        return 0
    if "--check" in sys.argv[1:]:
        print("docs/rungs.md is out of date: run scripts/rungs.py")
        return 1
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(new)
    return 0


sys.exit(main())
