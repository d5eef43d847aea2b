#!/usr/bin/env python3
"""Every header of src/ can be the first one that is included.

  headers_alone.py COMPILER FLAGS...

A source includes its own header first, and the build compiles that. What is left, headers that no source includes first, is
compiled here, each by itself, in one call.
"""
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"


def main():
    first = set()
    for source in SOURCES.glob("**/*.cpp"):
        found = re.search(r'^#include ["<]([^">]+)[">]', source.read_text(), re.M)
        if found:
            first.add(found[1])
    headers = {str(p.relative_to(group)): str(p) for group in SOURCES.iterdir() if group.is_dir() for p in sorted(group.glob("**/*.h"))}
    left = [path for name, path in headers.items() if name not in first]
    # -w: that "#pragma once" stands in a main file
    done = subprocess.run([sys.argv[1], *sys.argv[2:], "-w", "-fsyntax-only", "-x", "c++", *left])
    print(f"{len(headers)} headers, {len(headers) - len(left)} of them first in a source, {len(left)} compiled here")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
