"""Suppressions of findings, in the files of `warpgrind check --gen-suppressions`."""
import fnmatch
import json
import pathlib

import pytest


def read(path):
    try:
        entries = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["suppressions"]
        assert all(isinstance(entry, dict) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        raise pytest.UsageError(f"--warpgrind-suppress: {path} is not a file of suppressions, as "
                                "`warpgrind check --gen-suppressions FILE` writes it") from None
    return entries


def _fits(pattern, text):
    return not pattern or pattern == text or fnmatch.fnmatchcase(text, pattern)


def _fits_place(place, access):
    file, path = place.get("file", ""), access.get("file", "")
    return ((not place.get("line") or place["line"] == access.get("line"))
            and (_fits(file, path) or path.endswith("/" + file) or _fits("*/" + file, path))
            and _fits(place.get("function", ""), access.get("function", "")))


def suppresses(entry, finding):
    """finding: its JSON. As report::suppresses() of warpgrind."""
    places, accesses = entry.get("places", []), finding.get("accesses", [])
    return (all(_fits(entry.get(member, ""), finding.get(member, "")) for member in ("kind", "kernel", "message"))
            and len(places) <= len(accesses) and all(map(_fits_place, places, accesses)))
