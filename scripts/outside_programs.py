#!/usr/bin/env python3
"""outside_programs.py: writes docs/outside-programs.md from docs/outside-programs.csv and outside-findings.csv. --check
compares instead."""
import csv
import pathlib
import sys

docs = pathlib.Path(__file__).resolve().parent.parent / "docs"
with open(docs / "outside-programs.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
with open(docs / "outside-findings.csv", newline="", encoding="utf-8") as file:
    findings = list(csv.DictReader(file))


def count(suite, wanted):
    return sum(row["result"] == wanted for row in rows if row["suite"] == suite)


def sentences(note):
    return ". ".join(part[:1].upper() + part[1:] for part in note.replace("|", ",").split("; ")) + "."


results = sorted({row["result"] for row in rows}, key=lambda result: (result != "passes", result))
suites = list(dict.fromkeys(row["suite"] for row in rows))
lines = [
    "# Programs of others",
    "",
    "Public CUDA programs, built outside this repository and run whole on a virtual GPU, each with its own verification. Sizes are",
    "small where a program allows it. [outside-programs.csv](outside-programs.csv) has a row for each program, with its commit, its GPU",
    "and CPU seconds. It says what `check` found, where that was run, and why a program does not pass. A program that *runs* ends well",
    "and has no verification. Where a program without one passes, its row says how its results were compared: with an H200's, or with",
    "loops of the host. Measured on 2026-11-28 on two cores of an AMD EPYC, some programs of CUTLASS and Triton on the machine of",
    "an H200. `scripts/outside_programs.py` makes this page from the rows.",
    "",
    "| suite | " + " | ".join(results) + " |",
    "|---" * (len(results) + 1) + "|",
]
for suite in suites:
    lines.append(f"| {suite} | " + " | ".join(str(count(suite, result)) for result in results) + " |")
lines.append("| all | " + " | ".join(str(sum(row["result"] == result for row in rows)) for result in results) + " |")
lines += ["", "## What does not pass", "", "| suite | program | result | cause |", "|---|---|---|---|"]
for row in rows:
    if row["result"] != "passes":
        lines.append(f"| {row['suite']} | {row['program']} | {row['result']} | {sentences(row['note'])} |")
lines += [
    "",
    "## What `check` finds",
    "",
    "Findings in CUTLASS and the CuTe tutorials (`tut_`), each judged by the source and the PTX manual. *True*: an order that the manual",
    "asks for is missing. *Harmless*: no result can be wrong. *By the manual*: NVIDIA's own code does without it.",
    "",
    "| programs | findings | judgement | cause |",
    "|---|---|---|---|",
]
for row in findings:
    kinds = ", ".join(f"`{kind}`" for kind in row["findings"].split())
    lines.append(f"| {row['programs']} | {kinds} | {row['judgement']} | {row['cause']} |")
text = "\n".join(lines) + "\n"
page = docs / "outside-programs.md"
if "--check" in sys.argv[1:]:
    if page.read_text(encoding="utf-8") != text:
        sys.exit(f"{page} differs from its rows: run scripts/outside_programs.py")
else:
    page.write_text(text, encoding="utf-8")
