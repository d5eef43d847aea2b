#!/usr/bin/env python3
"""Holds counters and times of tensor copies, bulk copies, wgmma, mma and rings against an H200.

    compare_asynchronous.py --warpgrind FILE --program FILE           counters; exit code 1: a difference, 77: the program is not built
    compare_asynchronous.py --warpgrind FILE --program FILE --times   times, by group
    compare_asynchronous.py --warpgrind FILE --program FILE --work    writes lab/results/h200/asynchronous_launches.csv for `make accuracy`
    compare_asynchronous.py --import FOLDER                           makes the other files of lab/results/h200

FOLDER holds what the program (asynchronous.cu) printed for `count PART` and `time 9 PART`, and Nsight Compute's pages of the former. Both
files name a case in their first column.
"""
import argparse
import collections
import csv
import glob
import json
import math
import os
import re
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

RESULTS = os.path.join(HERE, "..", "..", "lab", "results", "h200")
COUNTERS, TIMES = os.path.join(RESULTS, "asynchronous_counters.csv"), os.path.join(RESULTS, "asynchronous.csv")
ROWS, WORK = os.path.join(RESULTS, "asynchronous.json"), os.path.join(RESULTS, "asynchronous_launches.csv")
# Those that must be equal in every case.
EQUAL = [
    "smsp__inst_executed_pipe_tma.sum", "l1tex__tmain_requests.sum", "sm__sass_inst_executed_op_tma_ld.sum",
    "sm__sass_inst_executed_op_tma_st.sum", "sm__sass_inst_executed_op_tma_red.sum",
    "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum", "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum", "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum",
    "sm__inst_executed_pipe_tensor_op_hmma.sum", "sm__inst_executed_pipe_tensor_op_imma.sum", "sm__inst_executed_pipe_tensor_op_dmma.sum",
    "sm__inst_executed_pipe_tensor_op_gmma.sum", "sm__pipe_tensor_op_hmma_type_hmma_hgmma_qgmma_cycles_active.sum",
    "sm__pipe_tensor_op_imma_cycles_active.sum", "sm__pipe_tensor_op_dmma_cycles_active.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum",
    "sm__sass_data_bytes_mem_shared_op_gmma.sum"]
# The GPU's count includes HFMA2, by which ptxas makes constants and moves. So it is held where the kernel is a product.
WITH_MOVES, PRODUCTS = "sm__inst_executed_pipe_tensor_op_hmma.sum", ("mma", "wgmma", "ring")
# Recorded too: caches and buses, which depend on more than the addresses.
RECORDED = ["lts__t_requests_srcunit_tex.sum", "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
            "lts__t_sectors_srcunit_tex_op_red.sum", "dram__bytes_read.sum", "l1tex__data_bank_reads.sum", "l1tex__data_bank_writes.sum",
            "sm__pipe_tma_cycles_active.sum", "smsp__inst_executed.sum"]
CASE = re.compile(r"[a-z0-9_]+ [^,]*(,[0-9.]+){6}$")
UNITS = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def case_lines(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if CASE.match(line)]


def number(text):
    return float(text.replace(",", ""))


def import_folder(folder):
    with open(COUNTERS, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["case", *EQUAL, *RECORDED])
        for page in sorted(glob.glob(os.path.join(folder, "core_*.csv"))):
            with open(page, newline="", encoding="utf-8") as g:
                lines = [line for line in g if line.startswith('"')]
            units, *rows = csv.DictReader(lines)
            cases = [line.split(",")[0] for line in case_lines(page[:-4] + ".txt")]
            if len(cases) != len(rows):
                sys.exit(f"{page}: {len(rows)} kernels, {len(cases)} cases")
            for case, row in zip(cases, rows):
                out.writerow([case, *(f"{number(row[n]) * UNITS.get(units[n], 1):.10g}" for n in [*EQUAL, *RECORDED])])
    if not os.path.exists(os.path.join(folder, "time1.csv")):
        return
    with open(TIMES, "w", encoding="utf-8") as f:
        f.write("case,blocks,threads,bytes,operations,median_us,fastest_us\n")
        for line in case_lines(os.path.join(folder, "time1.csv")):
            f.write(line + "\n")
    write_rows()


# Topic of `make accuracy`, by the beginning of a case's name.
TOPICS = {"tensor_": "tensor_copies", "bulk_": "bulk_copies", "ring_": "rings", "wgmma_": "warpgroup_products", "mma_": "warp_products"}


def write_rows():
    """asynchronous.json: the times in the form of the lab's results."""
    topics = {topic: [] for topic in TOPICS.values()}
    for row in stored(TIMES):
        topic = next(topic for start, topic in TOPICS.items() if row["case"].startswith(start))
        topics[topic].append(json.dumps({
            "rung": row["case"].split(" ")[0], "type": "", "size_text": range_of(row), "range": range_of(row), "role": "rung",
            "gpu_us": {"median": float(row["median_us"])}}))
    with open(ROWS, "w", encoding="utf-8") as f:
        parts = (f'{{"topic": "{topic}", "rows": [\n' + ",\n".join(rows) + "\n]}" for topic, rows in topics.items())
        f.write('{"topics": [' + ",\n".join(parts) + "]}\n")


def range_of(row):
    return f"{row['case']} blocks={row['blocks']} threads={row['threads']}"


def stored(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def cycles_each(row):
    """Cycles of the tensor pipe by instruction, of the one kind that a kernel has."""
    for inst, cycles in zip(EQUAL[11:14], EQUAL[15:18]):
        if number(row[cycles]):
            return number(row[cycles]) / number(row[inst])
    return 0


def compare_counters(options):
    theirs = stored(COUNTERS)
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "ours.csv")
        printed = whole_run.output_of([options.warpgrind, "run", "--gpu", "h200", "--quiet", "--csv", page, options.program, "count"])
        launches = collections.OrderedDict()
        for row in stored(page):
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = row["Metric Value"]
    ours = dict(zip((line.split(",")[0] for line in printed.splitlines() if CASE.match(line)), launches.values()))
    wrong = values = 0
    for row in theirs:
        if row["case"] not in ours:
            sys.exit(f"the program has no case {row['case']}")
        mine = ours[row["case"]]
        if row["case"].startswith("mma"):  # ptxas runs a fifth round of the loop of four: held is the time of an instruction
            theirs_each, mine_each = cycles_each(row), cycles_each(mine)
            values += 1
            wrong += theirs_each != mine_each
            if theirs_each != mine_each:
                print(f"{row['case']}: {mine_each} cycles an instruction, measured {theirs_each}")
            continue
        for name in EQUAL:
            if name == WITH_MOVES and not row["case"].startswith(PRODUCTS):
                continue
            values += 1
            if name not in mine or number(mine[name]) != float(row[name]):
                wrong += 1
                print(f"{row['case']}: {name} is {mine.get(name, 'missing')}, measured {row[name]}")
    print(f"{values - wrong} of {values} values of {len(theirs)} launches are equal")
    return 1 if wrong or not values else 0


def collect_work(options):
    """The work of each case. Blocks of one grid do alike work, so few of them run. With --part: replaces these cases alone."""
    known = {line.split(",")[0]: line for line in open(WORK, encoding="utf-8")} if options.part and os.path.exists(WORK) else {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "work.csv")
        blocks = "3" if options.part.startswith(("wgmma", "mma")) else "8"
        printed = whole_run.output_of([options.warpgrind, "run", "--gpu", "h200", "--quiet", "--blocks", blocks, "-k", "regex:^(tensor|bulk|ring|wgmma|mma)",
                                       "--work", path, options.program, "time", "1", options.part])
        head, *launches = [line.rstrip("\n") for line in open(path, encoding="utf-8") if not line.startswith("#")]
    cases = [dict(zip(("case", "blocks", "threads"), line.split(","))) for line in printed.splitlines() if CASE.match(line)]
    launches = launches[1::2]  # between two of them, L2 is flushed
    if len(launches) != len(cases):
        sys.exit(f"{len(launches)} launches of {len(cases)} cases")
    for case, launch in zip(cases, launches):
        known[range_of(case)] = range_of(case) + launch[launch.index(","):] + "\n"
    with open(WORK, "w", encoding="utf-8") as f:
        f.write("# What the cases of asynchronous.json ask of the GPU: compare_asynchronous.py --work\n" + head + "\n")
        f.writelines(known[range_of(row)] for row in stored(TIMES) if range_of(row) in known)
    return 0


def compare_times(options):
    measured = {(row["case"], row["blocks"], row["threads"]): float(row["median_us"]) for row in stored(TIMES)}
    command = [options.warpgrind, "run", "--gpu", "h200", "--quiet", "--blocks", "8", options.program, "time", "1", options.part]
    groups, lines = collections.defaultdict(list), whole_run.output_of(command).splitlines()
    for line in lines:
        if not CASE.match(line):
            continue
        cells = line.split(",")
        real, estimated = measured[tuple(cells[:3])], float(cells[5])
        groups["_".join(cells[0].split(" ")[0].split("_")[:2])].append((estimated / real, line, real))
        print(f"{cells[0][:60]:60} {cells[1]:>5} {real:9.2f} {estimated:9.2f} {estimated / real:5.2f}")
    total = []
    for name, rows in groups.items():
        errors = [abs(r - 1) for r, _, _ in rows]
        total += errors
        print(f"{name:20} {len(rows):4} rows, median error {100 * statistics.median(errors):5.1f} %, "
              f"mean {math.exp(statistics.mean(math.log(r) for r, _, _ in rows)):.2f}")
    print(f"all {len(total)} rows: median error {100 * statistics.median(total):.1f} %")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpgrind")
    parser.add_argument("--program")
    parser.add_argument("--import", dest="folder")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--work", action="store_true")
    parser.add_argument("--part", default="")
    options = parser.parse_args()
    if options.folder:
        return import_folder(options.folder)
    if not options.program or not os.path.exists(options.program):
        print(f"skipped: {options.program} is not built")
        return 77
    if options.work:
        return collect_work(options)
    if options.times:
        return compare_times(options)
    return compare_counters(options)


if __name__ == "__main__":
    sys.exit(main())
