#!/usr/bin/env python3
"""Holds the counters of wmma.load, wmma.store and wmma.mma against an H200.

    compare_wmma.py --warpgrind FILE --program FILE

The program (wmma.cu) has a kernel for each shape, type, layout and space. Requests, sectors and instructions of memory and of the tensor
cores must be those of lab/results/h200/wmma.csv; all instructions of a load or store within a factor of 1.1. Kernels that were not counted
there are held against the requests that ptxas makes of them. Exit code 1: a difference, 77: the program is not built by nvcc.
"""
import csv
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import whole_run  # noqa: E402

MEASURED = os.path.join(HERE, "..", "..", "lab", "results", "h200", "wmma.csv")
FACTOR = 1.1
INSTRUCTIONS, HMMA = "smsp__inst_executed.sum", "sm__inst_executed_pipe_tensor_op_hmma.sum"
# Not held: the operands of a product are made of one word here, in fewer instructions than the model knows; and what it does not count.
RECORDED = {INSTRUCTIONS, "sm__inst_executed_pipe_alu.sum", "sm__inst_executed_pipe_fma.sum", "l1tex__data_pipe_lsu_wavefronts.sum"}
SHARED_LOADS, SHARED_STORES = "smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum"
# Loads and stores of shared memory in the machine code of ptxas 13.0, of a warp: by part, layout, shape and type.
SHARED = {
    "load_a_row_m16n16k16_shared_f16": 1, "load_a_col_m16n16k16_shared_f16": 1, "load_a_row_m32n8k16_shared_f16": 2,
    "load_a_row_m8n32k16_shared_f16": 1, "load_b_col_m8n32k16_shared_f16": 2, "load_a_row_m16n16k16_shared_s8": 1,
    "load_a_col_m16n16k16_shared_s8": 8, "load_a_row_m32n8k16_shared_s8": 2, "load_b_row_m8n32k16_shared_s8": 16,
    "load_a_row_m16n16k8_shared_tf32": 4, "load_b_row_m16n16k8_shared_tf32": 4, "load_a_row_m8n8k4_shared_f64": 1,
    "load_a_row_m8n8k32_shared_s4": 1, "load_b_col_m8n8k128_shared_b1": 1, "load_c_row_m16n16k16_shared_f32": 4,
    "load_c_col_m16n16k16_shared_f32": 8, "load_c_row_m8n32k16_shared_f32": 8, "load_c_col_m8n32k16_shared_f16": 4,
    "load_c_row_m8n8k4_shared_f64": 1, "load_c_col_m8n8k4_shared_f64": 2, "store_d_row_m16n16k16_shared_f32": 4,
    "store_d_col_m16n16k16_shared_f32": 8, "store_d_row_m32n8k16_shared_f16": 4, "store_d_col_m8n8k32_shared_s32": 2}
BLOCKS = 4  # of one warp


def launches(options):
    """(case, stride) of each launch, and its counters by name."""
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "out.csv")
        output = whole_run.output_of([options.warpgrind, "run", "--gpu", "h200", "--quiet", "--csv", table, options.program])
        cases = [tuple(line.split()) for line in output.splitlines()]
        counters = {}
        with open(table, newline="", encoding="utf-8") as f:
            for row in csv.DictReader(line for line in f if not line.startswith("#")):
                counters.setdefault(int(row["ID"]), {})[row["Metric Name"]] = row["Metric Value"].replace(",", "")
    if len(cases) != len(counters):
        sys.exit(f"{len(cases)} cases, {len(counters)} launches")
    return dict(zip(cases, counters.values()))


def main():
    ours = launches(whole_run.program_options(__doc__))
    with open(MEASURED, newline="", encoding="utf-8") as f:
        measured = list(csv.DictReader(line for line in f if not line.startswith("#")))
    bad = compared = 0
    for row in measured:
        case = row["case"], row["stride"]
        product = case[0].startswith("mma_")
        for name, text in list(row.items())[2:]:
            # Constants are HFMA2 in other kernels, which the GPU counts as HMMA.
            if name in RECORDED or (name == HMMA and not product):
                continue
            compared += 1
            if float(ours[case][name]) != float(text):
                bad += 1
                print(f"{' '.join(case)} {name}: {ours[case][name]}, on the GPU {float(text):.0f}")
        ratio = float(ours[case][INSTRUCTIONS]) / float(row[INSTRUCTIONS])
        if not product and not 1 / FACTOR <= ratio <= FACTOR:
            bad += 1
            print(f"{' '.join(case)}: {ratio:.2f} of the GPU's instructions")
    shared = [case for case in ours if case[0] in SHARED]
    for case in shared:
        store = case[0].startswith("store")
        counted = float(ours[case][SHARED_STORES if store else SHARED_LOADS]) / BLOCKS
        if counted != SHARED[case[0]] + (1 if store else 0):  # another fills the matrix, or reads it back
            bad += 1
            print(f"{' '.join(case)}: {counted:.0f} accesses of shared memory, in machine code {SHARED[case[0]]}")
    if {case[0] for case in shared} != set(SHARED):
        sys.exit("a case of shared memory is missing")
    print(f"{compared} counters of {len(measured)} launches, {len(shared)} launches of shared memory; {bad} differences")
    return 1 if bad or not measured else 0


if __name__ == "__main__":
    sys.exit(main())
