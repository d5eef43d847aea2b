#!/usr/bin/env python3
"""Speed of the virtual GPU, side by side with other ways to run the same kernels on a CPU, in one go.

  bench.py [--build DIR] [--processes N] [--only KERNEL...] [--json FILE]

The virtual GPU runs with all counters and bounds checks on; PoCL (OpenCL on the CPU) and the plain C++ check and count
nothing; Oclgrind checks bounds, runs a smaller size, and its rate a work item is what counts. Every program verifies its
result. Figures are medians over processes of the median over launches. Peers that are not installed are named and skipped
(BENCH=1 scripts/setup.sh installs them).
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# kernel: title, size, size for Oclgrind, rows for Oclgrind (0: all), goal and must as multiples of PoCL
KERNELS = {
    "mm": ("naive multiplication 512, 16 x 16", 512, 64, 0, 10, 2),
    "mmt": ("tiled multiplication 512", 512, 64, 0, 10, 1.2),
    "reduce": ("tree reduction 2^22", 1 << 22, 1 << 16, 0, 8, 2),
    "transpose": ("tiled transpose 1024^2", 1024, 128, 0, 2, 0.5),
    "jacobi": ("Jacobi 1024^2, double", 1024, 128, 0, 0.9, 0.3),
    "vecadd": ("vector addition 2^24", 1 << 24, 1 << 16, 0, 0.8, 0.3),
}
OCLGRIND_GOAL = 1000
REPETITIONS = 7


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = args.build / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.warpgrind = str(args.build / "bin/warpgrind")
        self.skipped = []
        self.wrong = []

    # ---- Programs

    def compile(self, what, command, needs=()):
        for header in needs:
            if not any(pathlib.Path(p, header).exists() for p in ("/usr/include", "/usr/local/include")):
                self.skipped.append(f"{what}: {header} is not installed")
                return False
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            self.skipped.append(f"{what}: does not compile: {(done.stderr.strip().splitlines() or ['?'])[0]}")
        return done.returncode == 0

    def build(self):
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        kernels = self.folder / "kernels"
        if nvcc:
            good = self.compile("kernels.cu", [nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", HERE / "kernels.cu",
                                               "-o", kernels])
        else:
            good = self.compile("kernels.cu", [self.warpgrind, "nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo",
                                               HERE / "kernels.cu", "-o", kernels])
        if not good:
            sys.exit("\n".join(self.skipped))
        self.have_native = self.compile("plain C++", ["g++", "-O3", "-march=native", "-fopenmp", "-std=c++17",
                                                      HERE / "native.cc", "-o", self.folder / "native"])
        ocl = self.compile("PoCL and Oclgrind", ["g++", "-O2", "-std=c++17", HERE / "ocl_bench.cc", "-o",
                                                 self.folder / "ocl_bench", "-lOpenCL"], ["CL/cl.h"])
        vendors = pathlib.Path("/etc/OpenCL/vendors")
        self.have_pocl = ocl and vendors.exists() and any("pocl" in p.name for p in vendors.iterdir())
        self.have_oclgrind = ocl and shutil.which("oclgrind") is not None
        if ocl and not self.have_pocl:
            self.skipped.append("PoCL: not installed")
        if ocl and not self.have_oclgrind:
            self.skipped.append("Oclgrind: not installed")

    # ---- Runs. Each returns seconds of the first launch, the median, and million items a second.

    def once(self, command, environment=None):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env=dict(os.environ, **(environment or {})))
        lines = [line for line in done.stdout.splitlines() if line.count(",") >= 7]
        if done.returncode or not lines:
            self.wrong.append(f"{' '.join(str(c) for c in command)}: exit code {done.returncode} "
                              f"{(done.stderr.strip().splitlines() or [''])[-1]}")
            return None
        fields = lines[-1].rsplit(",", 8)
        if fields[-1] != "ok":
            self.wrong.append(f"{' '.join(str(c) for c in command)}: wrong result")
            return None
        return {"first_s": float(fields[2]), "median_s": float(fields[3]), "rate": float(fields[7])}

    def many(self, command, environment=None):
        runs = [r for r in (self.once(command, environment) for _ in range(self.args.processes)) if r]
        return {k: statistics.median(r[k] for r in runs) for k in runs[0]} if runs else None

    def virtual_gpu(self, kernel, size, threads, options=(), environment=None, repetitions=REPETITIONS):
        return self.many([self.warpgrind, "run", "--quiet", "--threads", threads, *options, self.folder / "kernels", kernel,
                          size, repetitions], environment)

    def pocl(self, kernel, size, threads):
        if not self.have_pocl or kernel == "gather":
            return None
        return self.many([self.folder / "ocl_bench", HERE / "kernels.cl", kernel, size, REPETITIONS],
                         {"POCL_MAX_PTHREAD_COUNT": str(threads)})

    def oclgrind(self, kernel, size, rows):
        if not self.have_oclgrind:
            return None
        return self.once(["oclgrind", "--num-threads", 1, self.folder / "ocl_bench", HERE / "kernels.cl", kernel, size, 1,
                          rows])

    def native(self, kernel, size, threads):
        if not self.have_native:
            return None
        return self.many([self.folder / "native", kernel, size, REPETITIONS], {"OMP_NUM_THREADS": str(threads)})

    # ---- Tables

    def peers(self):
        rows = {}
        print("\nMillion work items a second (multiplication: lane-FMAs), all counters and bounds checks on\n")
        print(f"{'':36} {'warpgrind':>17} {'PoCL':>17} {'x PoCL':>13} {'goal':>5} {'must':>5} {'plain C++':>10} "
              f"{'Oclgrind':>9} {'x':>7}")
        print(f"{'kernel':36} {'1 thread':>8} {'2':>8} {'1 thread':>8} {'2':>8} {'1':>6} {'2':>6} {'':>11} {'1 thread':>10} "
              f"{'1 thread':>9}")
        for kernel, (title, size, small, part, goal, must) in KERNELS.items():
            if self.args.only and kernel not in self.args.only:
                continue
            ours = {t: self.virtual_gpu(kernel, size, t) for t in (1, 2)}
            pocl = {t: self.pocl(kernel, size, t) for t in (1, 2)}
            native = self.native(kernel, size, 1)
            grind = self.oclgrind(kernel, small, part)
            row = {"warpgrind": ours, "pocl": pocl, "native": native, "oclgrind": grind, "goal": goal, "must": must,
                   "times_pocl": {t: ratio(ours[t], pocl[t]) for t in (1, 2)}, "times_oclgrind": ratio(ours[1], grind)}
            rows[kernel] = row
            times = row["times_pocl"]
            print(f"{title:36} {rate(ours[1])} {rate(ours[2])} {rate(pocl[1])} {rate(pocl[2])} {factor(times[1])} "
                  f"{factor(times[2])} {goal:5} {must:5} {rate(native, 10)} {rate(grind, 9)} "
                  f"{factor(row['times_oclgrind'], 7)}", flush=True)
        return rows

    def counters_cost(self):
        rows = {}
        print("\nCost of the counters (1 thread; bounds checks stay on)\n")
        print(f"{'kernel':36} {'on':>8} {'off':>8} {'off/on':>7}")
        for kernel, (title, size, *_) in list(KERNELS.items()) + [("gather", ("random gather from 4 MiB, 2^22", 1 << 22))]:
            if self.args.only and kernel not in self.args.only:
                continue
            on, off = self.virtual_gpu(kernel, size, 1), self.virtual_gpu(kernel, size, 1, ["--no-counters"])
            rows[kernel] = {"on": on, "off": off, "ratio": ratio(off, on)}
            print(f"{title:36} {rate(on)} {rate(off)} {factor(rows[kernel]['ratio'], 7)}", flush=True)
        return rows

    # Of a smaller size: what is written and shared costs hundreds of times a run.
    def checks_cost(self):
        groups = ("memory", "init", "barriers", "races", None)
        rows = {}
        print("\nCost of `warpgrind check` (times the median launch of a run, 1 thread, by group of --only)\n")
        print(f"{'kernel':36} {'run, ms':>8} " + " ".join(f"{g or 'all':>9}" for g in groups))
        for kernel, (title, size, *_) in KERNELS.items():
            if self.args.only and kernel not in self.args.only:
                continue
            small = size // 2 if size < 1 << 16 else size // 16
            run = self.virtual_gpu(kernel, small, 1, repetitions=3)
            rows[kernel] = {"size": small, "run": run}
            for group in groups:
                only = ["--only", group] if group else []
                checked = self.once([self.warpgrind, "check", "--threads", "1", "--error-exitcode", "0", *only,
                                     self.folder / "kernels", kernel, small, 3])
                rows[kernel][group or "all"] = checked["median_s"] / run["median_s"] if checked and run else None
            print(f"{title.split(' ')[0] + ' ' + title.split(' ')[1] + f', {small}':36} "
                  f"{1e3 * run['median_s'] if run else 0:8.2f} "
                  + " ".join(factor(rows[kernel][g or "all"], 9) for g in groups), flush=True)
        return rows

    def scaling(self, peers):
        print("\nScaling from 1 to 2 threads")
        for kernel, row in peers.items():
            row["scaling"] = ratio(row["warpgrind"][2], row["warpgrind"][1])
            print(f"{KERNELS[kernel][0]:36} {factor(row['scaling'], 8)}")

    def start_up(self):
        print("\nCompilation and start-up (ms)")
        result = {}
        with tempfile.TemporaryDirectory() as cache:
            for kernel in ("vecadd", "mm", "mmt", "reduce", "empty"):
                size = {"vecadd": 1024, "reduce": 1024, "empty": 1}.get(kernel, 32)
                environment = {"XDG_CACHE_HOME": os.path.join(cache, kernel)}
                command = [self.warpgrind, "run", "--quiet", "--threads", "1", self.folder / "kernels", kernel, size, 5]
                cold, warm = self.once(command, environment), self.once(command, environment)
                if cold and warm:
                    result[kernel] = {"cold_ms": 1e3 * (cold["first_s"] - cold["median_s"]),
                                      "cached_ms": 1e3 * (warm["first_s"] - warm["median_s"])}
                    print(f"first launch of {kernel:20} {result[kernel]['cold_ms']:8.1f} cold "
                          f"{result[kernel]['cached_ms']:8.1f} from the cache")
            command = [self.warpgrind, "run", "--quiet", str(self.folder / "kernels"), "empty", "1", "1"]
            times = []
            for _ in range(7):
                begin = time.monotonic()
                subprocess.run(command, capture_output=True)
                times.append(time.monotonic() - begin)
            result["empty_program_ms"] = 1e3 * statistics.median(times)
            print(f"whole run of an empty kernel          {result['empty_program_ms']:8.1f}")
        return result


def ratio(a, b):
    return a["rate"] / b["rate"] if a and b and b["rate"] else None


def rate(result, width=8):
    if not result:
        return f"{'-':>{width}}"
    value = result["rate"]
    return f"{value:{width}.0f}" if value >= 100 else f"{value:{width}.2f}"


def factor(value, width=6):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.2f}" if value < 100 else f"{value:{width}.0f}"


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(KERNELS) + ["gather"])
    parser.add_argument("--json", type=pathlib.Path, help="default: BUILD/bench/results.json")
    args = parser.parse_args()
    args.build = args.build.resolve()
    bench = Bench(args)
    bench.build()
    date = datetime.date.today().isoformat()
    print(f"{machine()}, {date}")
    if os.getloadavg()[0] > 1.5:
        print("warning: other work runs on this machine; the figures will be too low and uneven")
    peers = bench.peers()
    bench.scaling(peers)
    results = {"machine": machine(), "date": date, "peers": peers, "counters": bench.counters_cost(),
               "checks": bench.checks_cost(),
               "start_up": bench.start_up(), "skipped": bench.skipped, "wrong": bench.wrong}
    for line in bench.skipped:
        print(f"skipped: {line}")
    for line in bench.wrong:
        print(f"FAILED: {line}")
    path = args.json or bench.folder / "results.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"results: {path}")
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
