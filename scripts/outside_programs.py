#!/usr/bin/env python3
"""outside_programs.py: writes docs/outside-programs.md from docs/outside-programs.csv and outside-findings.csv, and docs/projects.md
from docs/projects.csv, projects-findings.csv and clients.json. --check compares instead."""
import csv
import json
import pathlib
import sys

docs = pathlib.Path(__file__).resolve().parent.parent / "docs"


def read_rows(name):
    with open(docs / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sentences(note):
    return ". ".join(part[:1].upper() + part[1:] for part in note.replace("|", ",").split("; ")) + "."


def programs_page():
    """docs/outside-programs.md: a row a program."""
    rows = read_rows("outside-programs.csv")
    findings = read_rows("outside-findings.csv")

    def count(suite, wanted):
        return sum(row["result"] == wanted for row in rows if row["suite"] == suite)

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
    return lines


# Clients of clients.json that are projects with test suites of their own, and the notes on what does not pass there.
CLIENTS = {
    "Numba": "causes are in [clients.md](clients.md); 15 tests expect NVIDIA's words in the PTX; about 20 pass since",
    "numba-cuda": "causes are in [clients.md](clients.md): 2 tests of Numba's CPU target, a barrier of the grid, a number of registers",
    "CuPy": "causes are in [clients.md](clients.md): 4 files did not end in time, 3 tests needed cuSOLVER, 3 the size of a pool",
    "hashcat": "",
}


def client_rows():
    """Suites of clients.json in the form of projects.csv, a row a client."""
    suites = [row for row in json.loads((docs / "clients.json").read_text(encoding="utf-8"))
              if row["client"] in CLIENTS and not row["what"].startswith("our scripts")]
    for client, note in CLIENTS.items():
        mine = [row for row in suites if row["client"] == client]
        parts = ", ".join(row["what"].split(" (")[0].removeprefix("numba.cuda.tests.") for row in mine)
        counts = {result: sum(row[result] for row in mine) for result in ("passed", "failed", "skipped")}
        yield {"project": client, "version": mine[0]["version"], "part": parts, "runner": "make clients", **counts, "check": "", "note": note}


def projects_page():
    """docs/projects.md: test suites with counts, a row a part."""
    rows = read_rows("projects.csv") + list(client_rows())
    findings = read_rows("projects-findings.csv")
    members = ("project", "version", "part", "runner", "passed", "failed", "skipped", "check")
    lines = [
        "# Test suites of other projects",
        "",
        "Public projects whose tests need a GPU, on the virtual GPU: their own tests, unchanged, with the runner that they have. Where only a",
        "part of a suite was compiled, the row names it. *Passed*, *failed* and *skipped* count tests as that runner does.",
        "",
        "    warpgrind run --no-counters --require-kernels '*' ./tests     # GoogleTest, Catch2, Thrust's framework, MAGMA's programs",
        "    pytest --warpgrind                                            # pytest",
        "    warpgrind check ./tests                                       # rows with an entry in the column check",
        "",
        "Measured on 2026-11-29 on two shared cores of an AMD EPYC, with CUDA 13.0's nvcc and PTX for sm_80. PyCUDA, MAGMA, hashcat and Numba are",
        "Debian's packages. Kokkos, CUB and Warp were compiled for sm_90 (Warp's library: sm_75) and ran on an H200 first. What fails there, too, is",
        "not counted. Rows by `make clients` are those of [clients.md](clients.md), from 23 to 25 November 2026. Those of CuPy and numba-cuda",
        "ran on the virtual GPU of a machine with 16 cores. Single programs are in [outside-programs.md](outside-programs.md).",
        "`scripts/outside_programs.py` makes this page from [projects.csv](projects.csv) and [projects-findings.csv](projects-findings.csv).",
        "",
        "| project | version | tests | run by | passed | failed | skipped | check |",
        "|---|---|---|---|--:|--:|--:|---|",
    ]
    lines += ["| " + " | ".join(str(row[member]) for member in members) + " |" for row in rows]
    totals = [str(sum(int(row[result]) for row in rows)) for result in ("passed", "failed", "skipped")]
    lines.append("| all | | | | " + " | ".join(totals) + " | |")
    lines += ["", "## What does not pass", "", "| project | tests | cause |", "|---|---|---|"]
    lines += [f"| {row['project']} | {row['part']} | {sentences(row['note'])} |" for row in rows if row["note"]]
    lines += ["", "## What these tests found", "", "| where | place | what happens | judgement |", "|---|---|---|---|"]
    lines += [f"| {row['project']} | {row['place']} | {row['what']} | {row['judgement']} |" for row in findings]
    return lines


def main():
    for name, lines in ("outside-programs.md", programs_page()), ("projects.md", projects_page()):
        page = docs / name
        text = "\n".join(lines) + "\n"
        if "--check" not in sys.argv[1:]:
            page.write_text(text, encoding="utf-8")
        elif page.read_text(encoding="utf-8") != text:
            sys.exit(f"{page} differs from its rows: run scripts/outside_programs.py")


main()
