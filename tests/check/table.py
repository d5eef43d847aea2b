#!/usr/bin/env python3
"""The table of docs/checks.md: each case, what `warpgrind check` has to find, and what compute-sanitizer's tools say of the same
program on a GPU (compute_sanitizer.csv).

  table.py           writes it into docs/checks.md
  table.py --check   exit code 1 when the file has another, or lacks the row of a kind that a case expects
"""
import pathlib
import sys

import compute_sanitizer
import expectations

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs/checks.md"
BEGIN, END = "<!-- tests/check/table.py: begin -->\n", "<!-- tests/check/table.py: end -->\n"
TOOLS = [tool for tool, options in compute_sanitizer.TOOLS.items() if options is not None]


def expected(e):
    if e.is_bug():
        return ", ".join(dict.fromkeys(g.name() for g in e.groups.values())).replace("|", " or ")
    return ", ".join(f"at most {severity} {kind}" for severity, kind in e.allowed) or "nothing"


def verdict(row):
    return {"silent": "-"}.get(row["verdict"], row["verdict"]) if row else "not run"


def row_of(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(cases, rows):
    head = ["case", "program", "to be found", *TOOLS]
    text = row_of(head) + "|" + " --- |" * len(head) + "\n"
    for e in cases:
        link = f"[{e.case}](../tests/check/cases/{e.area}.cu)"
        text += row_of([link, e.what, expected(e), *(verdict(rows.get((e.case, tool))) for tool in TOOLS)])
    return text


def sums(cases, rows):
    def found(e, tools):
        return any(rows.get((e.case, tool), {}).get("verdict") == "found" for tool in tools)

    bugs, traps = [e for e in cases if e.is_bug()], [e for e in cases if not e.is_bug()]
    text = f"Something is reported for, of {len(bugs)} programs with a bug and {len(traps)} that are right:\n\n"
    text += row_of(["", *TOOLS, "any of them"]) + "|" + " --- |" * (len(TOOLS) + 2) + "\n"
    for name, some in (("with a bug", bugs), ("right", traps)):
        counts = [sum(found(e, [tool]) for e in some) for tool in TOOLS] + [sum(found(e, TOOLS) for e in some)]
        text += row_of([name, *map(str, counts)])
    return text


def kinds(cases):
    """All kinds of findings that the cases name."""
    return {kind for e in cases for group in e.groups.values() for kind in group.kinds} | {kind for e in cases for _, kind in e.allowed}


def main():
    path = HERE / "compute_sanitizer.csv"
    cases = list(expectations.read_all().values())
    rows = {(r["id"], r["tool"]): r for r in compute_sanitizer.read_rows(path)}
    notes = [line[1:].strip() for line in path.read_text().splitlines() if line.startswith("#")]
    made = "\n".join(f"    {note}" for note in notes) + "\n\n" + sums(cases, rows) + "\n" + table(cases, rows)
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    new = before + BEGIN + made + END + rest.split(END)[1]
    if "--check" not in sys.argv[1:]:
        DOCUMENT.write_text(new)
        return 0
    if new != text:
        print("docs/checks.md is not what tests/check/table.py makes: run it")
    without_row = sorted(kind for kind in kinds(cases) if f"`{kind}`" not in before)
    for kind in without_row:
        print(f"docs/checks.md: the tables of kinds have no row for `{kind}`")
    return 0 if new == text and not without_row else 1


if __name__ == "__main__":
    sys.exit(main())
