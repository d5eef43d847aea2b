#!/usr/bin/env python3
"""Speed of the virtual GPU, compared with other ways to run the same kernels on a CPU.

  bench.py [--build DIR] [--part PART...] [--only KERNEL...] [--threads N,N] [--processes N] [--avx2] [--record] [--json FILE]
  bench.py --add FILE...

The virtual GPU runs with all counters and bounds checks. PoCL (OpenCL on the CPU) and the plain C++ check and count
nothing. Oclgrind checks bounds and runs a smaller size; its rate per work item is compared. Every program verifies its
result. Figures are medians over processes of the median over launches; a process of the virtual GPU and one of PoCL take
turns, and their multiple is the median of such pairs. --avx2 measures with AVX2 alone. Peers that are not installed are named and skipped
(BENCH=1 scripts/setup.sh installs them). --record appends to bench/history.jsonl and writes docs/speed.md from it.
--add does so with files of --json, which other machines wrote. Scaling on many cores: bench.py --part scaling --threads 2,4,8,16 [--record].

rows.py lists the measurements, parts.py does them.
"""
import argparse
import datetime
import json
import os
import pathlib
import sys

import history
from parts import BY_NAME, PARTS
from programs import Programs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=history.ROOT / "build")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    parser.add_argument("--only", nargs="+", choices=BY_NAME, metavar="KERNEL")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[2], help="of the part scaling")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--avx2", action="store_true", help="no AVX-512, except in PoCL")
    parser.add_argument("--commit", help="default: that of this folder")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--add", type=pathlib.Path, nargs="+", metavar="FILE")
    parser.add_argument("--json", type=pathlib.Path, help="default: BUILD/bench/results.json")
    args = parser.parse_args()
    if args.add:
        for path in args.add:
            results = json.loads(path.read_text())
            if results["wrong"]:
                return f"{path}: {results['wrong'][0]}"
            history.record(results)
        return history.write_document()
    programs = Programs(args.build.resolve(), args.processes, args.avx2)
    programs.build(peers="peers" in args.part)
    date, load = datetime.date.today().isoformat(), os.getloadavg()[0]
    print(f"{history.machine()}, {date}, load {load:.1f}")
    if load > 1.5:
        print("warning: other work runs on this machine; the figures will be too low and uneven")
    figures = {}
    for part in args.part:
        figures.update(PARTS[part](programs, args))
    for line in programs.skipped:
        print(f"skipped: {line}")
    for line in programs.wrong:
        print(f"FAILED: {line}")
    path = args.json or programs.folder / "results.json"
    results = {"machine": history.machine(), "vectors": history.vectors(args.avx2), "date": date, "load": load,
               "commit": args.commit or history.commit(), "figures": figures, "skipped": programs.skipped, "wrong": programs.wrong}
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"results: {path}")
    if args.record and not programs.wrong:
        history.record(results)
        history.write_document()
    return 1 if programs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
