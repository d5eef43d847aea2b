#!/usr/bin/env python3
"""Time to the first output of programs whose kernels are not compiled yet: a row of docs/compile-times.md each.

  first_output.py [--build DIR] [--against WARPGRIND] [--package] [--runs N] [--folder DIR]

Builds the programs of bench/first_output by nvcc (without it by `warpgrind nvcc`), and runs each with an empty cache: seconds to its
first line and user CPU seconds of the whole run, with counters and without. --against: the same by another warpgrind, in turns. Medians.
--package: without and with the kernels that scripts/package_kernels.py has put into the build folder, in turns.
"""
import argparse
import contextlib
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def out_of_the_way(folder):
    if folder:
        folder.rename(folder.with_name("hidden"))
    try:
        yield
    finally:
        if folder:
            folder.with_name("hidden").rename(folder)


def built(source, folder, warpgrind):
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    program = folder / source.stem
    done = subprocess.run([*([nvcc] if nvcc else [warpgrind, "nvcc"]), "-std=c++17", "-O3", "-arch=sm_90", source, "-o", program])
    return None if done.returncode else program


def measured(warpgrind, options, program, hidden=None):
    """Seconds to the first line, user CPU seconds of the run, and the output; None: it failed. hidden: a folder out of the way."""
    with tempfile.TemporaryDirectory() as cache, out_of_the_way(hidden):
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        begin = time.monotonic()
        with subprocess.Popen([warpgrind, "run", "--quiet", "--cache", cache, *options, program], stdout=subprocess.PIPE) as run:
            output = run.stdout.readline()
            first = time.monotonic() - begin
            output += run.stdout.read()
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used
    return None if run.returncode else (first, used, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build")
    parser.add_argument("--against", type=pathlib.Path, metavar="WARPGRIND")
    parser.add_argument("--package", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the programs there")
    args = parser.parse_args()
    mine = args.build.resolve() / "bin/warpgrind"
    kernels = mine.parent.parent / "lib/prepared/kernels"
    if args.package and not kernels.is_dir():
        sys.exit(f"{kernels} is missing: scripts/package_kernels.py {args.build}")
    versions = [(args.against, None)] * bool(args.against) + [(mine, kernels)] * args.package + [(mine, None)]
    wrong = 0
    print(f"load {os.getloadavg()[0]:.1f}; by two versions: before, now\n")
    print("| program | counters | s to the first line | CPU s of the run |\n|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        for source in sorted((HERE / "first_output").glob("*.cu")):
            program = folder / source.stem if (folder / source.stem).exists() else built(source, folder, mine)
            for options in [[], ["--no-counters"]]:
                turn = lambda: [measured(version, options, program, hidden) for version, hidden in versions]
                runs = [turn() for _ in range(args.runs)] if program else [[None]]
                if any(run is None for pair in runs for run in pair) or len({run[2] for pair in runs for run in pair}) != 1:
                    print(f"{source.name}: failed, or its output differs", file=sys.stderr)
                    wrong = 1
                    continue
                cells = [" -> ".join(f"{statistics.median(run[k] for run in by):.2f}" for by in zip(*runs)) for k in (0, 1)]
                print(f"| {source.name} | {'no' if options else 'yes'} | {cells[0]} | {cells[1]} |", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
