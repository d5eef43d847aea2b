#!/usr/bin/env python3
"""Differences of the lab's counters between nvcc's PTX and clang's, with their causes, for docs/compilers.md.

  compare_compilers.py NVCC.json CLANG.json      files of `warpgrind lab all --json FILE`, of a build with NVIDIA's toolkit and
                                                 of one where it is hidden (scripts/without_toolkit.sh); Markdown on stdout

Exit code 1: a counter of memory traffic differs in a row for which CAUSES has no reason, or rows are missing.
"""
import collections
import fnmatch
import json
import sys

# Counters of memory traffic. Counts of instructions differ nearly everywhere; they have a table of their own.
TRAFFIC = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global load requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global load sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "global store requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global store sectors",
    "smsp__inst_executed_op_shared_ld.sum": "shared load requests",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared load wavefronts",
    "smsp__inst_executed_op_shared_st.sum": "shared store requests",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared store wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "shared bank conflicts",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum": "local load requests",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum": "local store requests",
    "l1tex__t_requests_pipe_tex_mem_texture.sum": "texture requests",
    "warpgrind__flop.sum": "floating-point operations",
}
INSTRUCTIONS = "warpgrind__ptx_inst_executed.sum"

# (topic, rung, counter: patterns; the first match counts), cause.
CAUSES = [
    ("*", "grid*", "global*", "waiting at the grid's barrier: how often a block looks depends on when the others come"),
    ("divergence", "split by lane", "*", "clang works both sides out and selects: no branch, one store"),
    ("divergence", "switch", "global*", "clang has the load and the store in each case of the switch, nvcc once behind it"),
    ("gemm", "double buffer", "shared bank conflicts", "clang makes two of some 16-byte accesses"),
    ("matmul", "double buffer", "shared bank conflicts", "clang makes two of some 16-byte accesses"),
    ("image", "desaturate / word", "global*", "of the uchar4 three bytes are used: clang loads two and one, nvcc all four at once"),
    ("image", "median*", "local store requests", "how much of the window is kept in registers (not looked into)"),
    ("*", "*", "floating-point operations", "arithmetic folded and shared otherwise (not looked into one by one)"),
]


def rows_of(path):
    with open(path) as f:
        data = json.load(f)
    rows = {}
    for topic in data["topics"]:
        for row in topic["rows"]:
            if row.get("metrics"):
                rows.setdefault((row["range"].split(":")[0], row["rung"], row["type"], row["size_text"], topic["gpu"]), row["metrics"])
    return rows


def value(metrics, name):
    return (metrics.get(name) or {}).get("value") or 0


def cause_of(topic, rung, counter):
    for topics, rungs, counters, why in CAUSES:
        if fnmatch.fnmatch(topic, topics) and fnmatch.fnmatch(rung, rungs) and fnmatch.fnmatch(counter, counters):
            return why
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    nvcc, clang = rows_of(sys.argv[1]), rows_of(sys.argv[2])
    both = [key for key in nvcc if key in clang]
    lines = collections.OrderedDict()  # (topic, rung, counter) -> [rows, first values]
    same = 0
    for key in both:
        differs = False
        for metric, name in TRAFFIC.items():
            a, b = value(nvcc[key], metric), value(clang[key], metric)
            if a != b:
                differs = True
                lines.setdefault((key[0], key[1], name), []).append((key[2], key[3], a, b))
        same += not differs
    print("# The lab's counters by compiler\n")
    print("Made by `scripts/compare_compilers.py` from two runs of `make run`: programs compiled by nvcc 13.0, and by clang 19 with the\n"
          "toolkit hidden (`warpgrind nvcc`), each at -O3 for sm_90. What is counted is the PTX that the compiler wrote; on a GPU ptxas\n"
          "would still change both.\n")
    print(f"{len(both)} rows of the lab are in both runs; in {same} every counter of memory traffic and the floating-point operations are\n"
          "equal. The others, with the first row of each rung as the example:\n")
    print("| topic | rung | counter | rows | example | nvcc | clang | why |\n|---|---|---|---:|---|---:|---:|---|")
    unexplained = []
    for (topic, rung, name), found in lines.items():
        why = cause_of(topic, rung, name)
        if why is None:
            unexplained.append((topic, rung, name))
        kind, size, a, b = found[0]
        print(f"| {topic} | {rung} | {name} | {len(found)} | {size} {kind} | {a:,.0f} | {b:,.0f} | {why or 'not explained'} |")
    ratios = collections.defaultdict(list)
    for key in both:
        if value(nvcc[key], INSTRUCTIONS):
            ratios[key[0]].append((value(clang[key], INSTRUCTIONS) / value(nvcc[key], INSTRUCTIONS), key[1]))
    print("\n## Instructions\n\nPTX instructions that warps executed, clang's as a multiple of nvcc's.\n")
    print("| topic | rows | least | median | most |\n|---|---:|---:|---:|---:|")
    for topic, found in sorted(ratios.items()):
        found.sort()
        least, most = found[0], found[-1]
        print(f"| {topic} | {len(found)} | {least[0]:.2f} ({least[1]}) | {found[len(found) // 2][0]:.2f} | {most[0]:.2f} ({most[1]}) |")
    missing = [key for key in nvcc if key not in clang] + [key for key in clang if key not in nvcc]
    if missing:
        print("\nIn one of the two runs only: " + ", ".join(sorted({f"{k[0]} / {k[1]}" for k in missing})) + ".")
    for item in unexplained:
        print("not explained: " + " / ".join(item), file=sys.stderr)
    sys.exit(bool(unexplained))


main()
