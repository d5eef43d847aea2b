#!/usr/bin/env python3
"""Makes integrations/python/warpgrind/counter_names.json from docs/counters.md; --check compares the two instead."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "integrations/python/warpgrind/counter_names.json"


def counter_names():
    names, short = [], {}
    for line in (ROOT / "docs/counters.md").read_text(encoding="utf-8").splitlines():
        if row := re.match(r"\| `(\w+)` \| `([\w.]+)` \|$", line):
            short[row[1]] = row[2]
        elif row := re.match(r"\| `([\w.]+)` \|", line):
            names.append(row[1])
    return json.dumps({"names": names, "short": short}, indent=1) + "\n"


def main():
    if "--check" not in sys.argv[1:]:
        FILE.write_text(counter_names(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != counter_names():
        print(f"{FILE} differs from docs/counters.md: run {sys.argv[0]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
