#!/usr/bin/env python3
"""Prints tests/long.txt: the tests that took 10 seconds or more in a run of all tests.

  long_tests.py TESTS.xml... >tests/long.txt     TESTS.xml: what `make test` writes in builds with and without the toolkit
"""
import datetime
import re
import sys
import xml.etree.ElementTree as tree

SECONDS = 10


def main():
    if len(sys.argv) == 1:
        sys.exit(__doc__.strip())
    cases = [case for file in sys.argv[1:] for case in tree.parse(file).getroot().iter("testcase")]
    names = {re.sub(r"\.(nvcc|clang)$", "", case.get("name")) for case in cases if float(case.get("time") or 0) >= SECONDS}
    print(f"# Tests that take {SECONDS} seconds or more. Made by scripts/long_tests.py on {datetime.date.today()}.\n"
          "# CI runs each in one step of every fourth run (tests/Turns.cmake). `make test` runs all.")
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
