#!/usr/bin/env python3
"""Writes docs/accuracy-programs-h200.md from programs.csv, programs_own_sizes.csv, kinds.csv,
queues.csv and uneven.csv of lab/results/h200.

    scripts/accuracy_programs.py            writes the page
    scripts/accuracy_programs.py --check    exit code 1 if the page is not what the files give

The files hold measured times of an H200 beside the estimates for the same binaries. `before_ns` is an earlier estimate; where it is not
known, it is empty.
"""
import csv
import os
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs/accuracy-programs-h200.md")
# Kinds of cases in kinds.csv, by the first word of the label.
ROUNDS = 64  # of a launch of batches.csv
KINDS = {
    "chain": "dependent loads", "chain_barrier": "dependent loads", "shared_barrier": "barriers", "tree": "barriers",
    "flight1": "loads in flight", "flight8": "loads in flight", "columns_apart": "loads of far rows",
    "softmax_block": "softmax, a block a row", "softmax_thread": "a thread a row", "layer_norm_thread": "a thread a row",
    "normalise_first_thread": "one thread of a block works", "column_mean": "columns", "column_block": "columns",
    "covariance": "columns", "product": "products", "product_rows_in_lanes": "products", "product_transposed": "products",
    "product_tile_4": "register tiles", "product_tile_8": "register tiles", "product_tile_8_of_64": "register tiles",
    "adam": "adam", "fence_and_ticket": "fence and ticket", "compare_and_swap": "compare and swap",
    "shared_float_atomics": "shared float atomics", "sin": "functions", "sincos": "functions", "sin_double": "functions",
    "pow": "functions", "exp_log": "functions", "gather": "loads from anywhere",
}


def read(name):
    with open(os.path.join(ROOT, "lab/results/h200", name), newline="", encoding="utf-8") as f:
        lines = f.read().splitlines()
    return lines[0].lstrip("# "), list(csv.DictReader(lines[1:]))


def factor(row, column):
    return float(row[column]) / float(row["measured_ns"])


def score(rows, column):
    if not all(r[column] for r in rows):
        return "- | - | - | -"
    errors = [abs(factor(r, column) - 1) for r in rows]
    within_2 = sum(0.5 <= factor(r, column) <= 2 for r in rows)
    return (f"{100 * statistics.median(errors):.1f} % | {100 * statistics.mean(errors):.1f} % | "
            f"{100 * sum(e <= 0.3 for e in errors) / len(rows):.1f} % | {100 * within_2 / len(rows):.1f} %")


def table(title, groups, columns):
    scores = "median | mean | within 30 % | within a factor of 2"
    lines = [f"| {title} | number | " + " | ".join(scores if c == "estimated_ns" else "before: " + scores for c in columns) + " |",
             "|---|---|" + "---|---|---|---|" * len(columns)]
    lines += [f"| {name} | {len(rows)} | " + " | ".join(score(rows, c) for c in columns) + " |" for name, rows in groups if rows]
    return "\n".join(lines)


def pairs(rows, column):
    """Pairs of kernels of one program whose times differ by more than 5 %, and those ranked rightly."""
    right = all_pairs = 0
    for i, a in enumerate(rows):
        for b in rows[i + 1:]:
            x, y = float(a["measured_ns"]), float(b["measured_ns"])
            if a["program"] == b["program"] and max(x, y) > 1.05 * min(x, y):
                all_pairs += 1
                right += (x < y) == (float(a[column]) < float(b[column]))
    return right, all_pairs


def single_operations():
    """What operations.csv says of the cycles and machine instructions of single operations, before and after."""
    rows = read("operations.csv")[1]

    def within(column, factor):
        for estimate in (f"before_{column}", f"estimated_{column}"):
            errors = [abs(float(r[estimate]) / float(r[column]) - 1) for r in rows]
            yield f"{sum(e <= factor for e in errors) / len(errors):.0%}"

    (late, latency), (fewer, instructions) = within("latency_cycles", 0.1), within("instructions", 0.1)
    return (f"**Single operations** ([operations.csv](../lab/results/h200/operations.csv)): {len(rows)} operations, each in a chain of one warp and by 32 "
            f"warps of each SM. The latency of {latency} is within a tenth of an H200's ({late} before), and the machine instructions of {instructions} "
            f"({fewer} before). What a branch guards now waits for its predicate and for the value that it leaves as it is. Nothing passes a division "
            "with a branch to its slow path. A loop of loads and divisions (eigenvalue of HeCBench) took 0.77 of an H200's time, now 1.07.")


def cycles(batches, loads):
    """Mean cycles of a round of `loads` loads by one warp, with the launch, of batches.csv."""
    rows = [r for r in batches if (r["distance"], r["blocks"], r["threads"], r["loads"]) == ("pages", "1", "32", str(loads))]
    return round(sum(float(r["cycles"]) for r in rows) / len(rows) / ROUNDS)


def page():
    how, programs = read("programs.csv")
    how_own_sizes, own_sizes = read("programs_own_sizes.csv")
    estimated = [r for r in own_sizes if r["estimated_ns"]]
    how_kinds, kinds = read("kinds.csv")
    how_queues, queues = read("queues.csv")
    how_uneven, uneven = read("uneven.csv")
    batches = read("batches.csv")[1]
    longer = [r for r in programs if float(r["measured_ns"]) > 1e4]
    seen = [r for r in programs if r["part"] == "seen"]
    right, every = pairs(programs, "estimated_ns")
    right_unseen, every_unseen = pairs([r for r in programs if r["part"] == "unseen"], "estimated_ns")
    by_kind = {}
    for row in kinds:
        by_kind.setdefault(KINDS[row["case"].split()[0].split("/")[0]], []).append(row)
    by_case, by_pattern = {}, {}
    for row in queues:
        by_case.setdefault(row["case"].split()[0], []).append(row)
    for row in uneven:
        words = row["case"].split()
        by_pattern.setdefault(words[0] if words[1].isdigit() else " ".join(words[:2]), []).append(row)
    worst = sorted((r for r in programs if r["part"] == "seen" and not 0.5 <= factor(r, "estimated_ns") <= 2),
                   key=lambda r: factor(r, "estimated_ns"))
    parts = [
        "# Accuracy of the time estimate on an H200: programs and kinds of kernels",
        "Made by `scripts/accuracy_programs.py` from stored measurements (lab/results), without a GPU.",
        f"**Programs.** {how} No row fitted a constant. The sizes are smaller than HeCBench's, for the virtual GPU. "
        f"{len({r['program'] for r in seen})} of the programs were looked at to find causes. One hundred of these were scored before that, with their "
        "331 kernels: half were within 13.3 %, 76.7 % within 30 %, 92.7 % within a factor of 2. The unseen programs were measured when the terms "
        "below were done. No row of theirs was looked at before the first score: half of 76 kernels were within 11.1 %, 81.6 % within 30 %, 89.5 % "
        "within a factor of 2. After that only the end of blocks was changed, by the lab's rows. The column *before* has earlier estimates of "
        "the programs that were looked at.",
        table("kernels", [("all", programs), ("longer than 10 us", longer),
                          ("programs looked at", seen), ("these, longer than 10 us", [r for r in longer if r["part"] == "seen"]),
                          ("unseen programs", [r for r in programs if r["part"] == "unseen"]),
                          ("unseen, longer than 10 us", [r for r in longer if r["part"] == "unseen"])], ["estimated_ns", "before_ns"]),
        f"Of {every} pairs of kernels of one program whose times differ by more than 5 %, {right} are ranked rightly; of unseen programs, "
        f"{right_unseen} of {every_unseen}. Each kernel is in "
        "[programs.csv](../lab/results/h200/programs.csv).",
        f"**At their own sizes.** {how_own_sizes} {len(own_sizes)} kernels of {len({r['program'] for r in own_sizes})} programs were measured. "
        f"{len(estimated)} of them were estimated, by a model that had seen none.",
        table("kernels", [("estimated", estimated), ("longer than 10 us", [r for r in estimated if float(r["measured_ns"]) > 1e4])],
              ["estimated_ns"]),
        "What was found since: blocks that end at once, behind those that work (blockexchange 0.61), and parts of other machine instructions "
        "(keccaktreehash 1.49). Each kernel is in [programs_own_sizes.csv](../lab/results/h200/programs_own_sizes.csv).",
        "**Kinds.** " + how_kinds + " Each case ran twice, the second time with what the first left in L2. Before: without the terms below.",
        table("kind", [("all", kinds), *sorted(by_kind.items())], ["estimated_ns", "before_ns"]),
        "Each case is in [kinds.csv](../lab/results/h200/kinds.csv).",
        "**Queues.** " + how_queues + " Each case ran twice.",
        table("case", sorted(by_case.items()), ["estimated_ns"]),
        "Each case is in [queues.csv](../lab/results/h200/queues.csv).",
        "**Uneven work and structures.** " + how_uneven + " Each case ran twice. The patterns are described in tests/h200/uneven.cu.",
        table("case", sorted(by_pattern.items()), ["estimated_ns", "before_ns"]),
        "Each case is in [uneven.csv](../lab/results/h200/uneven.csv).",
        "## Terms from these cases",
        "**Warps and blocks are customers of the SM's units** (`timing/queues.h`, `timing/terms/combine.cpp`): a closed network of queues "
        "gives the time between that of a warp alone (its path) and that of the busiest unit. Before, a norm with a fitted exponent did, "
        "and few warps got the sum of both: tiles of 8 x 8 sums a thread took 1.4 times too long. Blocks with barriers are customers as a whole.",
        "**A loaded memory answers later**: L2's slices and the channels of DRAM have queues of their own (about 50 cycles x busy / (1 - busy)).",
        "**The path of a warp has no fitted factor any more**: 21 % of all waits for memory.",
        "**L2 holds what launches touched** (`timing/l2_contents.h`), not the rest of their allocations. It also holds what copies within the "
        "device read and wrote, but nothing of copies from and to the host ([after_copies.csv](../lab/results/h200/after_copies.csv)).",
        "**Loops of compare-and-swap** (`timing/work_of.cpp`, `timing/terms/atomics.cpp`): the tries that succeed on one word follow each "
        "other, at least 0.33 us apart.",
        "**The last block** of a reduction with a ticket works alone, after all others, and **a fence holds its warp** for 250 cycles "
        "(`timing/warp_path.cpp`).",
        "**Matrix instructions of FP64** follow each other in a warp (`timing/terms/latency.cpp`).",
        "**A block lasts as long as its slowest warp** (`timing/warp_path.cpp`). Where one thread of eight warps sums up 2048 weights, the "
        "estimate charged at most four times the mean of the warps. If each block has such a warp, every wave lasts so long (npb_bt).",
        "**A floating-point addition to shared memory** is a loop that holds its warp, a round for each lane on one word "
        "(`timing/work_of.cpp`). Where all lanes of a block want one word, each addition takes 58 cycles, one after the other, and 75 of a "
        "double. Tries fail there: four warps need 88 for 32 sums of doubles (aop).",
        "**A launch lasts as long as its last warp** (`timing/uneven.h`). Where warps may run different rounds of a loop, the work of each block "
        "and of its slowest warp is noted, and the blocks take their places on the SMs in order. Before, all warps took the mean: one warp "
        "with 512 times the work was off by a factor of 70, and a kernel of 0.6 s (depixel) by 860. Of more than 32,768 blocks, neighbours with little "
        "work count as one that takes the sum of their times. Of 100,096 blocks of lombscargle 391 work: 752 us before, 230 now, 307 measured. "
        "Where a kernel has barriers, counts of the code say how many warps of a block enter a loop. One thread of particlefilter sums up all "
        "weights: 0.33 ms before, 2.6 now, 2.0 measured.",
        "**Stores to small structures** leave L1 together if they directly follow each other (`timing/stores_to_l2.h`). More of them do "
        "where the kernel reads memory ([structures.csv](../lab/results/h200/structures.csv)). Sectors that are written "
        "in part take an SM two cycles each (`timing/terms/l2.cpp`).",
        "**What warps do after their log is full** is like the second half of it, not like all of it (`counters/cache_model.cpp`): the first "
        "rounds of a loop find nothing in L1.",
        "**The unit of L2 with most of the atomics** (`counters/hot_atomics.h`, `timing/terms/atomics.cpp`) executes a sector in 0.7 ns. Lanes on "
        "one word follow each other, 1.8 ns each for floating point. Two units share a KiB, and blocks that run one after the other may want "
        "different ones. Before, all sectors had equal shares. Of [336 cases](../lab/results/h200/atomics.csv) half are within 8 %.",
        "**Local memory that L2 cannot hold** goes to DRAM (`counters/local_reuse.h`). That is decided by the words that all running threads use "
        "before one of them is used again ([local.csv](../lab/results/h200/local.csv)).",
        "**Atomics**: ptxas sums up those of one address within a warp; translations of addresses come before them; floating-point sums in "
        "shared memory execute their tries (`timing/work_of.cpp`).",
        "**Pipes** are busy with what Nsight Compute counts on them (`sass/pipe_counts.h`): two cycles of a scheduler for the integer pipe and "
        "for integer multiply-adds, one for floating point. Before, a fitted factor of 0.4 stood for integers.",
        "**Operands of 32 bits come from two banks of registers**, one a cycle each (`sass/register_reads.h`, `timing/terms/sm.cpp`). "
        "FFMA of three registers takes 1.5 cycles, FP64 FMA 2.9, and mixed code 1.2 to 1.4 ([mix.csv](../lab/results/h200/mix.csv)). It "
        "is why kernels whose schedulers are never idle issue in 73 to 84 % of the cycles (perlin, complex, zoom).",
        "**A load of many lines** takes a warp 2.15 cycles a line, even if it hits L1 ([lines.csv](../lab/results/h200/lines.csv), "
        "`timing/warp_path.cpp`). Other warps use L1 in between: a line takes an SM one cycle.",
        "**A division or a root** has a branch to a slow path, so that nothing overlaps with it (haccmk).",
        "**Slow paths.** An exact division, reciprocal or root is fast for operands in the middle of their range. ptxas tests "
        "them, and calls a routine for the rest. It has 30 to 90 instructions, most of them for the integer pipe, and a chain of "
        "branches. A warp calls it if one of its lanes must. Machine code that counts has the same test, so that the routine is "
        "counted from the data (`jit/calls/slow_paths.h`). Its instructions are in `smsp__inst_executed`, in the pipes, and in "
        "the time of a warp, at 7.8 cycles each.",
        "\n".join([
            "| operation | a lane needs the routine if |",
            "|---|---|",
            "| `div.rn.f32` | the dividend is below 2^-102 (or zero), the divisor below 2^-125 or from 2^125 on, or the exponents differ by -125 and less or 127 and more |",
            "| `div.rn.f64` | the dividend is below 2^-967 (or zero), the divisor subnormal or from 2^1017 on, or the quotient is not normal or from 2^1017 on |",
            "| `rcp.rn.f32` | the number is subnormal, zero, or from 2^126 on |",
            "| `rcp.rn.f64` | the number is subnormal, zero, or from about 2^1022 on |",
            "| `sqrt.rn.f32` | the number is below 2^-101, zero, negative, or infinite |",
            "| `sqrt.rn.f64` | the number is below 2^-970, zero, negative, or infinite |",
            "| `rsqrt.approx.f64` | the number is subnormal, zero, negative, or infinite |",
        ]),
        "NaN always needs it. A zero dividend does, too: of doubles it costs a warp 69 instructions. All this was read in machine "
        "code of ptxas 13.0 for sm_90. The test of `div.rn.f32` (FCHK) was measured by others on compute capability 12.0. It "
        "agrees with an H200's counts of instructions.",
        "**Loads of lines that L1 has had for long** do not wait where a kernel has no barriers (`counters/cache_replay.cpp`), and ptxas "
        "unrolls loops with a variable end, too (`sass/unroll_loops.cpp`).",
        "**Loads in flight follow the registers** (`sass/pressure.h`, `timing/schedule.h`): ptxas moves loads early as far as a thread's registers "
        "hold their results and what else is alive. In a kernel of 32 registers it was 12 of 16 unrolled loads. Over 305 blocks of 190 public "
        "programs, the registers of the loads in flight differ from those in ptxas's code by 0.30 in the mean of the logarithms (0.41 with the "
        "fixed number of before). Where they do not all fit, loads keep their order, and addresses are computed for the next ones only: "
        "of 170 loads ptxas keeps 22 under way in 40 registers (s3d). Unrolled iterations share an address (hogbom).",
        "**Blocks that end at once** are distributed after those that fill all SMs (`timing/terms/combine.cpp`). Where 3 of 4 blocks do nothing, "
        "0.7 ns for each adds to the time of the others.",
        "**A part of another machine instruction takes no time**: LOP3, IADD3, LEA and IMAD take a PTX instruction in (`sass/select_instructions.cpp`). "
        "A round of Keccak takes a warp 268 cycles (340 before), and its 122 instructions keep the integer pipe busy for 245.",
        single_operations(),
        "**Launches of 1.4 to 3 us** ([short_launches.csv](../lab/results/h200/short_launches.csv)): a kernel without an access to memory takes an H200 "
        "1.50 us, one that stores a number 1.76 us. The last block begins when all are distributed, so 1,056 blocks take 0.55 us longer than 132, "
        "whatever they do.",
        "**A loop that waits for a word in memory** counts once (`timing/polls.h`), however often it turns on the virtual GPU.",
        "**Branches become predicates** as ptxas 13.0 makes them of sixty small kernels, one for each shape and length (`sass/if_conversion.h`). A "
        "body that has predicates itself keeps its branch, as does the inner body of an else-if. `p && q` is one predicate if at most four "
        "instructions stand between. A loop over pairs of atoms (bf_md) had 0.76 of the instructions and 0.39 of the time.",
        "**A load passes a store** to other bytes of the same base (`sass/places.h`), and loads by `ld.global.nc` pass all stores.",
        "**What waits for several loads from DRAM waits for the slowest**: 80 cycles more with each doubling (`timing/schedule.h`). A warp of an "
        f"H200 takes {cycles(batches, 1)} cycles for a round of one load, {cycles(batches, 4)} for 4 and {cycles(batches, 16)} for 16, each in a page of "
        "its own ([batches.csv](../lab/results/h200/batches.csv)). A barrier waits for the slowest loads of all warps, and so does the end of a block "
        "of more than eight warps ([tiles.csv](../lab/results/h200/tiles.csv)).",
        "The exponents and factors that no microbenchmark gives (`timing/fitted.h`, `kInPhases`) were chosen on the lab's rows and the cases "
        "above.",
        "## Open",
        "Causes that the cases show and no term has:",
        "- A warp that finds in L1 what another warp of its block brought long before (chain 16, 1024 threads: 3 times too slow).",
        "- Loads that many warps want at the same time and L1 brings once: naive products take 1.2 to 1.5 times longer.",
        "- The first touch of pages (columns_apart, first launch), stores before a fence, one thread a row.",
        "- Additions of all warps to the same 32 words of shared memory.",
        "- Code that does not fit into the instruction cache (rushlarsen), and pages that migrate (nbnxm). "
        "[code_size.csv](../lab/results/h200/code_size.csv) has what such loops cost. Up to 2048 instructions it is nothing. From 4096 on an "
        "instruction takes 2.8 cycles for one warp of each scheduler and 1.3 to 1.5 for many, from 16384 on 5.9 and 1.5 to 2.",
        "- Two arrays that are exchanged in place take 1.4 times longer than two that are scaled in place, with the same traffic "
        "([tiles.csv](../lab/results/h200/tiles.csv), swap). Tiles of 32 bytes in a row that are updated in place take twice as long as estimated.",
        "- Long warps that share tables: only the beginning of their accesses is logged, where all is new (curand_init: 5 times too slow).",
        "- Atomics of the whole system on memory that the host also uses (atomicSystemWide: 25 times too slow).",
        "- Blocks that wait for a flag of the block before (pad: 0.64), and retries whose number depends on which block comes first (atomicCAS).",
        "- Managed memory that host and GPU use in turns (hungarian, haxpy): the virtual GPU does not see the host's accesses.",
        "- merge has a race whose blocks overrun here, so that its kernels do other work than on a GPU (up to 19 times too long).",
        "- How much of a spilled load a warp waits for (`timing/work_of.cpp` says 0.8 of it, after these rows were estimated).",
        "## Programs looked at that are beyond a factor of 2",
        "\n".join(["| factor | program | kernel | measured |", "|---|---|---|---|"] +
                  [f"| {factor(r, 'estimated_ns'):.3g} | {r['program']} | {r['kernel']} | {float(r['measured_ns']) / 1e3:.1f} us |" for r in worst]),
    ]
    return "\n\n".join(parts) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    text = page()
    if len(sys.argv) == 1:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    with open(PAGE, encoding="utf-8") as f:
        same = f.read() == text
    print("docs/accuracy-programs-h200.md " + ("is up to date" if same else "is not what scripts/accuracy_programs.py writes"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
