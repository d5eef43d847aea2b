#!/usr/bin/env python3
"""The cost of debugging mode: kernels of debugging.cu that never stop, run by `warpgrind debug` and by `warpgrind run --threads 1`.

  debugging.py --build DIR [--nvcc PATH] [--pairs N] [--history MIB] [KERNEL...]

Prints a table of the median time of a launch in both, without its first launch (compilation), and the median ratio of alternating pairs. Each
kernel is compiled twice: optimised (-O3 -lineinfo, no variables) and for debugging (-G). With --limit R, exit code 1 if a ratio is larger
than R; `make bench-debugging` allows 3.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"add": 4096, "multiply": 256, "collatz": 64}
BUILDS = {"-O3 -lineinfo": ["-O3", "-lineinfo"], "-G": ["-G"]}
LAUNCHES = 24  # the first ones touch new memory, which is kept for going back
FIRST_LAUNCHES = 100


def seconds(command, kernel):
    """Median seconds of a launch, from the line that measure.h prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stdout.splitlines() if line.startswith(kernel + ",")]
    if len(lines) != 1 or not lines[0].endswith(",ok"):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(lines[0].split(",")[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(SIZES))
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--history", help="MiB kept of earlier launches, as `warpgrind debug` takes it")
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    warpgrind = str(options.build / "bin/warpgrind")
    if not os.access(options.nvcc, os.X_OK):
        sys.exit(f"no nvcc at {options.nvcc}: name it with --nvcc")
    print(f"{'kernel':10} {'built with':14} {'run, ms':>9} {'debug, ms':>9} {'ratio':>6}")
    too_slow = []
    more = ["--history", options.history] if options.history else []
    with tempfile.TemporaryDirectory() as folder:
        commands = pathlib.Path(folder) / "commands"
        commands.write_text("run\nquit\n")
        for name, words in BUILDS.items():
            program = str(pathlib.Path(folder) / ("program" + words[0]))
            subprocess.run([options.nvcc, *words, "-std=c++17", "-arch=sm_80", "-I", str(HERE), "-o", program, str(HERE / "debugging.cu")],
                           check=True)
            for kernel in options.kernels:
                plain, debugged = [], []
                for pair in range(-1, options.pairs):
                    # The first pair runs until both have their best code, and is not counted.
                    arguments = [program, kernel, str(SIZES[kernel]), str(LAUNCHES if pair >= 0 else FIRST_LAUNCHES)]
                    plain.append(seconds([warpgrind, "run", "--quiet", "--threads", "1", *arguments], kernel))
                    debugged.append(seconds([warpgrind, "debug", *more, "-x", str(commands), *arguments], kernel))
                del plain[0], debugged[0]
                ratio = statistics.median(d / p for d, p in zip(debugged, plain))
                print(f"{kernel:10} {name:14} {1e3 * statistics.median(plain):9.2f} {1e3 * statistics.median(debugged):9.2f} {ratio:6.2f}",
                      flush=True)
                if options.limit and ratio > options.limit:
                    too_slow.append(f"{kernel} ({name}): {ratio:.2f}")
    if too_slow:
        sys.exit(f"slower than {options.limit} times the plain run: " + ", ".join(too_slow))


if __name__ == "__main__":
    main()
