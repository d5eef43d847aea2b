"""Builds and runs the programs of the benchmark, on the virtual GPU and on its peers."""
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REPETITIONS = 7
# Before the runs that count: a kernel runs this long, and so many processes more. A kernel's first code is quick to compile, and
# is replaced when the kernel has run about as long as its better code takes to compile (src/engine/jit/compile/tier.h).
WARM_UP_SECONDS, WARM_UP_MORE, WARM_UP_REPETITIONS = 1, 3, 20


def middle(runs):
    """Medians of each figure of several runs; None without runs."""
    return {k: statistics.median(r[k] for r in runs) for k in runs[0]} if runs else None


class Programs:
    def __init__(self, build, processes, avx2=False):
        """With `avx2`, nothing of ours uses AVX-512: neither our C++ nor the JIT nor the plain C++. PoCL stays as it is."""
        self.processes = processes
        self.warm = set()  # programs, kernels and options that have their better code
        self.architecture = "x86-64-v3" if avx2 else "native"
        if avx2:
            os.environ["WARPGRIND_AVX2"] = "1"
        self.folder = build / "bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.warpgrind = str(build / "bin/warpgrind")
        self.skipped, self.wrong = [], []

    # ---- Builds

    def compile(self, what, command, needs=()):
        for header in needs:
            if not any(pathlib.Path(p, header).exists() for p in ("/usr/include", "/usr/local/include")):
                self.skipped.append(f"{what}: {header} is not installed")
                return False
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            self.skipped.append(f"{what}: does not compile: {(done.stderr.strip().splitlines() or ['?'])[0]}")
        return done.returncode == 0

    def build_cuda(self, name):
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        compiler = [nvcc] if nvcc else [self.warpgrind, "nvcc"]
        if not self.compile(f"{name}.cu", [*compiler, "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", HERE / f"{name}.cu",
                                           "-o", self.folder / name]):
            sys.exit("\n".join(self.skipped))

    def build_plain(self, source, program):
        return self.compile(source, ["g++", "-O3", f"-march={self.architecture}", "-fopenmp", "-std=c++17", HERE / source, "-o",
                                     self.folder / program])

    def build(self, peers):
        for name in ("kernels", "units", "launches"):
            self.build_cuda(name)
        self.plain = {program: self.build_plain(source, program)
                      for source, program in (("native.cc", "native"), ("units.cc", "native_units"))}
        self.have_pocl = self.have_oclgrind = False
        if not peers:
            return
        ocl = self.compile("PoCL and Oclgrind", ["g++", "-O2", "-std=c++17", HERE / "ocl_bench.cc", "-o",
                                                 self.folder / "ocl_bench", "-lOpenCL"], ["CL/cl.h"])
        vendors = pathlib.Path("/etc/OpenCL/vendors")
        self.have_pocl = ocl and vendors.exists() and any("pocl" in p.name for p in vendors.iterdir())
        self.have_oclgrind = ocl and shutil.which("oclgrind") is not None
        if ocl and not self.have_pocl:
            self.skipped.append("PoCL: not installed")
        if ocl and not self.have_oclgrind:
            self.skipped.append("Oclgrind: not installed")

    # ---- Runs

    def fields(self, command, count, environment=None):
        """The last line of a program's output with so many fields; None where it failed."""
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env=dict(os.environ, **(environment or {})))
        lines = [line for line in done.stdout.splitlines() if line.count(",") >= count - 1]
        if done.returncode or not lines:
            self.wrong.append(f"{' '.join(str(c) for c in command)}: exit code {done.returncode} "
                              f"{(done.stderr.strip().splitlines() or [''])[-1]}")
            return None
        return lines[-1].rsplit(",", count - 1)

    def once(self, command, environment=None):
        """Seconds of the first launch, the median, and million items a second."""
        fields = self.fields(command, 9, environment)
        if fields and fields[-1] != "ok":
            self.wrong.append(f"{' '.join(str(c) for c in command)}: wrong result")
            return None
        return fields and {"first_s": float(fields[2]), "median_s": float(fields[3]), "rate": float(fields[7])}

    def many(self, command, environment=None, processes=None):
        runs = [r for r in (self.once(command, environment) for _ in range(processes or self.processes)) if r]
        return middle(runs)

    def pairs(self, kernel, size, threads):
        """Runs of the virtual GPU and of PoCL that take turns: [(ours, PoCL's)], None for what failed or is missing."""
        return [(self.virtual_gpu(kernel, size, threads, processes=1), self.pocl(kernel, size, threads, processes=1))
                for _ in range(self.processes)]

    def run_command(self, *options):
        return [self.warpgrind, "run", "--quiet", *options]

    def virtual_gpu(self, kernel, size, threads, options=(), environment=None, repetitions=REPETITIONS,
                    program="kernels", processes=None):
        command = [*self.run_command("--threads", threads, *options), self.folder / program, kernel, size]
        code = (program, kernel, *options)
        if code not in self.warm:
            self.warm.add(code)
            self.warm_up([*command, WARM_UP_REPETITIONS], environment)
        return self.many([*command, repetitions], environment, processes)

    def warm_up(self, command, environment):
        seconds = 0
        while seconds < WARM_UP_SECONDS:
            run = self.once(command, environment)
            if not run:
                return
            seconds += WARM_UP_REPETITIONS * run["median_s"]
        self.many(command, environment, WARM_UP_MORE)

    def pocl(self, kernel, size, threads, processes=None):
        if not self.have_pocl:
            return None
        return self.many([self.folder / "ocl_bench", HERE / "kernels.cl", kernel, size, REPETITIONS],
                         {"POCL_MAX_PTHREAD_COUNT": str(threads)}, processes)

    def oclgrind(self, kernel, size):
        if not self.have_oclgrind:
            return None
        return self.once(["oclgrind", "--num-threads", 1, self.folder / "ocl_bench", HERE / "kernels.cl", kernel, size, 1, 0])

    def native(self, kernel, size, threads, program="native"):
        if not self.plain[program]:
            return None
        return self.many([self.folder / program, kernel, size, REPETITIONS], {"OMP_NUM_THREADS": str(threads)})

    def launches(self, way, count, nodes, options=()):
        """Microseconds of wall and CPU time for each launch or node, and the process's peak in MiB."""
        runs = []
        for _ in range(self.processes):
            fields = self.fields([*self.run_command(*options), self.folder / "launches", way, count, nodes], 6)
            if fields:
                each = 1e6 / (count * nodes)
                runs.append({"us": float(fields[3]) * each, "cpu_us": float(fields[4]) * each, "mib": float(fields[5]) / 1024})
        return middle(runs)

    def whole(self, command, environment=None, repetitions=11):
        """Milliseconds of wall and CPU time of a whole process with its children."""
        wall, cpu = [], []
        for _ in range(repetitions):
            before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run([str(c) for c in command], capture_output=True, env=dict(os.environ, **(environment or {})))
            wall.append(time.monotonic() - begin)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            if done.returncode:
                self.wrong.append(f"{' '.join(str(c) for c in command)}: exit code {done.returncode}")
        return {"ms": 1e3 * statistics.median(wall), "cpu_ms": 1e3 * statistics.median(cpu)}
