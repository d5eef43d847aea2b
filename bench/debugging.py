#!/usr/bin/env python3
"""What debugging costs: four figures, on the kernels of debugging.cu.

  debugging.py --build DIR [--nvcc PATH] [--pairs N] [--history MIB] [--check] [KERNEL...]

never stops      a launch under `warpgrind debug`, as a multiple of `warpgrind run --threads 1`
watchpoint       the same with a watchpoint on one word that is never written, as a multiple of debugging without it
reverse-continue back over a launch of 2^20 threads, to a breakpoint in its first block
first stop       from the start of the program to a breakpoint in a kernel, with a warm cache: an executable, a .cu file, host code too

Each kernel is compiled twice: optimised (-O3 -lineinfo, no variables) and for debugging (-G). Times are the least of several (of a launch: of a
run's launches), which other work on the machine disturbs least. Multiples are medians of alternating pairs. With --check, exit code 1 if a figure is above its limit (LIMITS);
`make bench-debugging` does that.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"add": 4096, "multiply": 256, "collatz": 64}
WATCHED = {"add": "a", "multiply": "a", "collatz": "in"}  # parameter 0: kernels read it and never write it
BUILDS = {"-O3 -lineinfo": ["-O3", "-lineinfo"], "-G": ["-G"]}
LIMITS = {"never stops": 3, "watchpoint": 2, "reverse-continue": 5, "first stop": 1.5}  # multiples, then seconds
LAUNCHES = 24  # the first ones touch new memory, which is kept for going back
FIRST_LAUNCHES = 100
PROMPT = b"(warpgrind) "


class Figures:
    def __init__(self):
        self.too_slow = []

    def add(self, kind, name, value, unit, more=""):
        limit = LIMITS[kind]
        print(f"{kind:17} {name:30} {value:6.2f} {unit:5} (limit {limit}){more}", flush=True)
        if value > limit:
            self.too_slow.append(f"{kind}, {name}: {value:.2f}")


def seconds(command, kernel):
    """Least seconds of a launch, from the line that measure.h prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stdout.splitlines() if line.startswith(kernel + ",")]
    if len(lines) != 1 or not lines[0].endswith(",ok"):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(lines[0].split(",")[4])


class Session:
    """`warpgrind debug` by its prompt."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.read()

    def read(self):
        text = b""
        while not text.endswith(PROMPT):
            got = os.read(self.process.stdout.fileno(), 1 << 16)
            if not got:
                sys.exit(f"{self.process.args}: the debugger has ended: {text.decode(errors='replace')}")
            text += got
        return text.decode(errors="replace")

    def do(self, command, wanted=""):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        text = self.read()
        if wanted not in text:
            sys.exit(f"{self.process.args}: {command}: not {wanted!r}, but {text!r}")
        return text

    def leave(self):
        self.process.communicate(b"quit\n")


def launch_costs(figures, options, folder, programs):
    """Kernels that never stop: under the debugger, and with a watchpoint."""
    scripts = {"plain": "run\nquit\n"}
    for kernel in options.kernels:
        for build, word in (("-O3 -lineinfo", "*param_0"), ("-G", f"{WATCHED[kernel]}[0]")):
            scripts[f"{kernel} {build}"] = f"tbreak {kernel}\nrun\nwatch {word}\ncontinue\nquit\n"
    for name, text in scripts.items():
        (folder / name).write_text(text)
    warpgrind = str(options.build / "bin/warpgrind")
    more = ["--history", options.history] if options.history else []
    for build, program in programs.items():
        for kernel in options.kernels:
            times = {"run": [], "debug": [], "watch": []}
            for pair in range(-1, options.pairs):
                # The first pair runs until all have their best code, and is not counted.
                arguments = [program, kernel, str(SIZES[kernel]), str(LAUNCHES if pair >= 0 else FIRST_LAUNCHES)]
                debug = [warpgrind, "debug", "--batch", *more, "-x"]
                times["run"].append(seconds([warpgrind, "run", "--quiet", "--threads", "1", *arguments], kernel))
                times["debug"].append(seconds([*debug, str(folder / "plain"), *arguments], kernel))
                times["watch"].append(seconds([*debug, str(folder / f"{kernel} {build}"), *arguments], kernel))
            for kind, above, below in (("never stops", "debug", "run"), ("watchpoint", "watch", "debug")):
                ratio = statistics.median(a / b for a, b in zip(times[above][1:], times[below][1:]))
                figures.add(kind, f"{kernel} {build}", ratio, "times",
                            f"  {1e3 * statistics.median(times[below][1:]):.2f} -> {1e3 * statistics.median(times[above][1:]):.2f} ms")


def way_back(figures, options, programs):
    for build, program in programs.items():
        times = []
        for _ in range(max(options.pairs // 2, 1)):
            session = Session(str(options.build / "bin/warpgrind"), "debug", program, "add", "1024", "2")
            session.do("break add if blockIdx.x == 0 && threadIdx.x == 7")
            session.do("tbreak add if blockIdx.x == gridDim.x - 1")
            session.do("run", "[block (0,0,0), thread (7,0,0)")
            session.do("continue", "[block (4095,0,0)")
            begin = time.perf_counter()
            session.do("reverse-continue", "[block (0,0,0), thread (7,0,0)")
            times.append(time.perf_counter() - begin)
            session.leave()
        figures.add("reverse-continue", f"add {build}, 2^20 threads", min(times), "s")


def first_stops(figures, options, programs):
    source = ["--nvcc-flags", f"-I {HERE} -std=c++17", str(HERE / "debugging.cu")]
    starts = {f"executable, {build}": [program] for build, program in programs.items()}
    starts[".cu file"] = source
    if shutil.which("gdb"):
        starts[".cu file, host code too"] = ["--host", *source]
    for name, words in starts.items():
        times = []
        for _ in range(options.pairs + 1):
            begin = time.perf_counter()
            session = Session(str(options.build / "bin/warpgrind"), "debug", *words, "add", "64", "2")
            session.do("break add")
            session.do("run", "[block (0,0,0)")
            times.append(time.perf_counter() - begin)
            session.leave()
        figures.add("first stop", name, min(times), "s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(SIZES))
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--history", help="MiB kept of earlier launches, as `warpgrind debug` takes it")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not os.access(options.nvcc, os.X_OK):
        sys.exit(f"no nvcc at {options.nvcc}: name it with --nvcc")
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = {}
        for build, words in BUILDS.items():
            programs[build] = str(folder / ("program" + words[0]))
            subprocess.run([options.nvcc, *words, "-std=c++17", "-arch=sm_80", "-I", str(HERE), "-o", programs[build], str(HERE / "debugging.cu")],
                           check=True)
        first_stops(figures, options, programs)
        way_back(figures, options, programs)
        launch_costs(figures, options, folder, programs)
    if options.check and figures.too_slow:
        sys.exit("above its limit: " + "; ".join(figures.too_slow))


if __name__ == "__main__":
    main()
