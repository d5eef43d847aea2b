"""Cost of counters and checks on programs of HeCBench: the section of docs/speed.md, made of counting.csv."""
import csv
import pathlib

ROWS = pathlib.Path(__file__).resolve().parent / "counting.csv"
RUNS = ("before_counted", "counted", "before_checked", "checked")
GOALS = {"counted": 2, "checked": 6}


def ratio(row, run):
    return float(row[run]) / float(row["before_uncounted" if run.startswith("before") else "uncounted"])


def section():
    with open(ROWS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows.sort(key=lambda row: -max(ratio(row, run) / goal for run, goal in GOALS.items()))
    out = ["## Counters and checks on programs of HeCBench", "",
           "CPU seconds (user and system) of whole programs under `warpgrind run --no-counters` (*uncounted*). The other columns say how many "
           "times as many `warpgrind run` (*counted*) and `warpgrind check` (*checked*) take. The goals are 2 and 6. Compiled kernels are in the "
           "cache. The programs are built by nvcc 13.0 for sm_90 and get small arguments (bench/counting.csv). Measured on 2026-11-30 on two "
           "hyperthreads of an AMD EPYC (family 25, model 17) that other work shared. Runs before and after took turns: medians of three where "
           "a run takes less than 0.7 s, else one. *Before* is commit 6d05ff40. Before and after, all counters and findings are the same, but for myocyte, "
           "whose counters differ from run to run.", "",
           "| program | uncounted, s | before, counted | now, counted | before, checked | now, checked |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        cells = [f"{ratio(row, run):.1f}" if row[run] else "" for run in RUNS]
        out.append(f"| {row['program']} | {float(row['uncounted']):.2f} | " + " | ".join(cells) + " |")
    above = [f"{len([r for r in rows if ratio(r, run) > goal])} of {len(rows)} above {goal} {run}" for run, goal in GOALS.items()]
    out += ["", "Now " + ", ".join(above) + ". What is left:", "",
            "- A thread alone (extend2, 57,000 requests a launch): a request takes 5 ns uncounted. Its entry in the log takes 15 ns and its "
            "replay through the caches 35 ns.",
            "- Short launches whose block counts differ (myocyte): the time model walks through the code again for each launch.",
            "- Shared memory with 8 bytes a lane (tsa): the bank conflicts of such requests are counted one request at a time.",
            "- Checked: each scattered access is compared lane by lane with the earlier ones of its word. Bytes that several threads of a "
            "word write are compared byte by byte. Undefined bits are followed lane by lane."]
    return out
