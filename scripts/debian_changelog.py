#!/usr/bin/env python3
"""debian_changelog.py CHANGELOG.md VERSION MAINTAINER OUT.gz: converts the changes to the format of Debian's changelogs.

Fails if the version of the newest entry differs from that of the build."""
import datetime
import gzip
import os
import re
import sys
import textwrap


def entries(text):
    """(version, date, points) of each "## VERSION (DATE)"."""
    parts = re.split(r"^## (\S+) \((.*)\)$", text, flags=re.M)[1:]
    for version, date, body in zip(parts[::3], parts[1::3], parts[2::3]):
        points = [" ".join(point.split()) for point in re.split(r"^- ", body, flags=re.M)[1:]]
        yield version, datetime.datetime.strptime(date, "%d %B %Y"), points


def main():
    source, version, maintainer, out = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        found = list(entries(file.read()))
    if not found or found[0][0] != version:
        sys.exit("%s: its newest entry is of version %s, and this build is %s: write an entry '## %s (DAY MONTH YEAR)'"
                 % (source, found[0][0] if found else "(none)", version, version))
    text = ""
    for its_version, date, points in found:
        text += "warpgrind (%s) unstable; urgency=medium\n\n" % its_version
        for point in points:
            text += textwrap.fill(point.replace("`", ""), 76, initial_indent="  * ", subsequent_indent="    ") + "\n"
        text += "\n -- %s  %s\n\n" % (maintainer, date.strftime("%a, %d %b %Y 12:00:00 +0000"))
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with open(out, "wb") as file:
        file.write(gzip.compress(text.rstrip("\n").encode() + b"\n", 9, mtime=0))


if __name__ == "__main__":
    main()
