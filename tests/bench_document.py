#!/usr/bin/env python3
"""docs/speed.md is made of the history of the benchmark: each figure's last value, met or not, and a row for each record."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import history  # noqa: E402


def record(date, **figures):
    return {"date": date, "commit": "abc", "machine": "a CPU, 2 CPUs", "load": 0.1, "figures": figures}


def main():
    text = history.document([record("2026-01-01", **{"pocl.mm.1": 12.5, "launch.stream": 9.0}),
                             record("2026-01-02", **{"pocl.mm.1": 26.0}),
                             record("2026-01-03", **{"start.none": 12.0, "instructions.mm": 500.0})])
    for line in ("| naive multiplication 512, 16 x 16, 1 thread | 26.00 | 25 | x PoCL | yes | abc, 2026-01-02 |",
                 "| 100,000 launches, one wait | 9.00 | 3 | us each | no | abc, 2026-01-01 |",
                 "| start: cudaFree(0) alone | 12.00 | 60 | ms | yes | abc, 2026-01-03 |",
                 "| naive multiplication 512, 16 x 16: warp instructions | 500 |  | million/s |  | abc, 2026-01-03 |"):
        assert line in text, f"{line}\nis not in\n{text}"
    assert text.count("| 2026-01-0") == 3, text
    # What a row of goals() measures has a name that some part gives.
    assert not [name for name in history.goals() if name.split(".")[0] not in
                ("pocl", "scaling", "launch", "memory", "start", "instructions", "units")]


if __name__ == "__main__":
    main()
