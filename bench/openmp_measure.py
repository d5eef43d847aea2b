#!/usr/bin/env python3
"""Measures Rodinia's CUDA programs on the virtual GPU against its OpenMP programs, and stores the seconds in openmp.csv.

  openmp_measure.py PROGRAMS INPUTS [--build DIR] [--runs N] [--warm-up N] [--cpus N,N] [--only NAME...] [--csv FILE]
  openmp_measure.py --add FILE...

PROGRAMS is a folder with two executables for each row of ROWS: NAME.cuda and NAME.omp. INPUTS is a folder for the input
files, which are made there if it is empty (190 MB of random numbers, the same in every run). cfd is built with
"#define iterations 80" in both of its sources, which say 2000: that takes a minute. Each program first runs
--warm-up times on the virtual GPU, because better code of its kernels comes after some runs: at these sizes after four
at most. Then all ways to run it take turns, --runs times: OpenMP without OMP_WAIT_POLICY and with "passive", the latter
with large pages for malloc too ("large pages", as `warpgrind run` sets them), without and with counters, and the last two with
AVX2 alone if this CPU has AVX-512. Two threads each. A row of the CSV holds the CPU seconds (user and system) of all
runs of one way, the seconds that passed ("wall"), and the arguments. New rows replace those of the same CPU. --add takes
the rows of files that were measured on other machines. bench/page.py writes docs/speed.md from the rows.

The sizes: the OpenMP program takes 0.5 to 5 s on two threads of an idle CPU. main() names those that do not.
"""
import argparse
import csv
import datetime
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import history
from openmp import LARGE_PAGES, read

COLUMNS = ("machine", "vectors", "commit", "date", "program", "way", "seconds", "wall", "arguments")
CSV = history.ROOT / "bench/openmp.csv"
LEAST, MOST = 0.5, 5  # seconds that an OpenMP program should take
# Program: its arguments for CUDA, those for OpenMP. {} is the folder of the inputs.
ROWS = {
    "lud": ("-s 3072", "-n 2 -s 3072"),
    "nw": ("6144 10", "6144 10 2"),
    "backprop": ("1048560", "1048560"),
    "hotspot": ("1024 2 360 {}/temp_1024 {}/power_1024 out", "1024 1024 360 2 {}/temp_1024 {}/power_1024 out"),
    "srad_v1": ("500 0.5 502 458", "500 0.5 502 458 2"),
    "bfs": ("{}/graph1M", "2 {}/graph1M"),
    "lavaMD": ("-boxes1d 10", "-cores 2 -boxes1d 10"),
    "particlefilter": ("-x 128 -y 128 -z 10 -np 30000", "-x 128 -y 128 -z 10 -np 30000"),
    "nn": ("{}/nn/filelist -r 5 -lat 30 -lng 90", "{}/nn/filelist 5 30 90"),
    "streamcluster": ("10 20 64 16384 16384 1000 none out 1", "10 20 64 16384 16384 1000 none out 2"),
    "cfd": ("{}/domn", "{}/domn"),
    "b+tree": ("file {}/mil.txt command {}/command.txt", "core 2 file {}/mil.txt command {}/command.txt"),
    "hotspot3D": ("512 8 100 {}/p3_512x8 {}/t3_512x8 out", "512 8 100 {}/p3_512x8 {}/t3_512x8 out"),
    "pathfinder": ("30000 1000 20", "30000 1000"),
}


FROM_WORK = "../../../data"  # the folder of the inputs, from the working folder: srad_v1 reads its image there


# ---- Inputs


def write_numbers(path, count, low, high):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{random.uniform(low, high):.6f}\n" for _ in range(count))


def write_graph(path, nodes):
    degrees = [random.randint(2, 10) for _ in range(nodes)]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{nodes}\n")
        first = 0
        for degree in degrees:
            file.write(f"{first} {degree}\n")
            first += degree
        file.write(f"\n0\n\n{first}\n")
        file.writelines(f"{random.randrange(nodes)} {random.randint(1, 10)}\n" for _ in range(first))


def write_mesh(path, elements):
    normals = ((1, "0.1 0 0"), (-1, "-0.1 0 0"), (300, "0 0.1 0"), (-300, "0 -0.1 0"))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{elements}\n")
        for i in range(elements):
            sides = [f"{i + step + 1 if 0 <= i + step < elements else -2} {normal}" for step, normal in normals]
            file.write(" ".join([f"{random.uniform(0.5, 1.5):.6f}", *sides]) + "\n")


def write_storms(folder, files, records):
    folder.mkdir()
    (folder / "filelist").write_text("".join(f"{FROM_WORK}/nn/storms_{number}.db\n" for number in range(files)))
    names = ("ALBERTO", "BERYL", "CHRIS", "DEBBY")
    for number in range(files):
        with open(folder / f"storms_{number}.db", "w", encoding="ascii") as file:
            for i in range(records):
                file.write(f"{1950 + i % 55:4} {1 + i % 12:2} {1 + i % 28:2} {6 * (i % 4):2} {1 + i % 28:2} {names[i % 4]:9} "
                           f"{random.uniform(7, 69):5.1f} {random.uniform(0, 358):5.1f} {10 + i % 155:4} {i % 900:4}\n")


def make_inputs(folder):
    if (folder / "complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(1)
    write_numbers(folder / "temp_1024", 1024 * 1024, 320, 340)
    write_numbers(folder / "power_1024", 1024 * 1024, 0, 0.01)
    write_numbers(folder / "t3_512x8", 512 * 512 * 8, 320, 340)
    write_numbers(folder / "p3_512x8", 512 * 512 * 8, 0, 0.01)
    write_graph(folder / "graph1M", 1_000_000)
    with open(folder / "mil.txt", "w", encoding="ascii") as file:
        file.writelines(f"{n}\n" for n in [1_000_000, *(random.randrange(1_000_000) for _ in range(1_000_000))])
    (folder / "command.txt").write_text("j 6000 3000\nk 10000\n")
    write_mesh(folder / "domn", 97_046)
    write_storms(folder / "nn", 4, 250_000)
    (folder / "srad").mkdir()
    pixels = (" ".join(str(random.randrange(256)) for _ in range(502)) for _ in range(458))
    (folder / "srad/image.pgm").write_text("P2\n502 458\n255\n" + "\n".join(pixels) + "\n")
    (folder / "complete").touch()


# ---- Runs


def has_avx512():
    return "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text()


def ways(name, args, environment):
    """{(vectors, way): (command, environment)}; `vectors` is empty for OpenMP programs, which are built for any x86-64."""
    cuda, openmp = (text.replace("{}", str(args.inputs)).split() for text in ROWS[name])
    out = {}
    passive = {"OMP_WAIT_POLICY": "passive"}
    large_pages = {**passive, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    for way, more in (("OpenMP", {}), ("OpenMP passive", passive), (LARGE_PAGES, large_pages)):
        out["", way] = ([args.programs / f"{name}.omp", *openmp], {**environment, **more})
    run = [args.build / "bin/warpgrind", "run", "--quiet", "--threads", "2"]
    for vectors, more in (("AVX-512", {}), ("AVX2", {"WARPGRIND_AVX2": "1"})):
        if vectors == "AVX-512" and not has_avx512():
            continue
        for way, options in (("uncounted", ["--no-counters"]), ("counted", [])):
            out[vectors, way] = ([*run, *options, args.programs / f"{name}.cuda", *cuda], {**environment, **more})
    return out


def seconds_of(command, environment, folder):
    """User and system time of a process with its children, and the time that passed. A failure ends the measurement of the program."""
    begin = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise ChildProcessError(f"exit code {process.returncode}: {' '.join(str(part) for part in command)}")
    return used.ru_utime + used.ru_stime, wall


def measure(name, args, folder):
    """{(vectors, way): CPU seconds and seconds that passed, of each run}"""
    work = folder / name / "a/b/c"
    work.mkdir(parents=True)
    (folder / name / "data").symlink_to(args.inputs)
    all_ways = ways(name, args, {**os.environ, "OMP_NUM_THREADS": "2", "XDG_CACHE_HOME": str(folder / "cache")})
    seconds = {way: [] for way in all_ways}
    for run in range(-args.warm_up, args.runs):
        for way, (command, environment) in all_ways.items():
            if run >= -1 or way[0]:  # one run is enough to bring the OpenMP program into memory
                took = seconds_of(command, environment, work)
                if run >= 0:
                    seconds[way].append(took)
    return seconds


# ---- The file


def store(path, new):
    """Adds rows; each replaces that of the same CPU, program and way, and those with other arguments."""
    def identity(row):
        return row["machine"], row["vectors"], row["program"], row["way"]
    names = {identity(row) for row in new}
    sizes = {(row["machine"], row["program"]): row["arguments"] for row in new}
    rows = [row for row in read(path) if identity(row) not in names
            and row["arguments"] == sizes.get((row["machine"], row["program"]), row["arguments"])] + new
    order = list(ROWS)
    rows.sort(key=lambda row: (row["machine"], order.index(row["program"]) if row["program"] in order else len(order)))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path, nargs="?")
    parser.add_argument("inputs", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=history.ROOT / "build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=4)
    parser.add_argument("--cpus", type=lambda text: [int(n) for n in text.split(",")], help="default: all")
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="NAME", default=list(ROWS))
    parser.add_argument("--csv", type=pathlib.Path, default=CSV)
    parser.add_argument("--commit", help="default: that of this folder")
    parser.add_argument("--add", type=pathlib.Path, nargs="+", metavar="FILE")
    args = parser.parse_args()
    if args.add:
        return store(args.csv, [row for path in args.add for row in read(path)])
    if not args.inputs:
        parser.error("PROGRAMS and INPUTS are missing")
    args.programs, args.inputs, args.build = args.programs.resolve(), args.inputs.resolve(), args.build.resolve()
    make_inputs(args.inputs)
    if args.cpus:
        os.sched_setaffinity(0, args.cpus)
    same = {"machine": history.cpu(), "commit": args.commit or history.commit(), "date": datetime.date.today().isoformat()}
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only:
            try:
                seconds = measure(name, args, pathlib.Path(folder))
            except (ChildProcessError, FileNotFoundError) as problem:
                failed.append(f"{name}: {problem}")
                continue
            store(args.csv, [{**same, "vectors": vectors, "program": name, "way": way, "arguments": ROWS[name][0],
                              "seconds": " ".join(f"{cpu:.3f}" for cpu, _ in runs),
                              "wall": " ".join(f"{wall:.3f}" for _, wall in runs)}
                             for (vectors, way), runs in seconds.items()])
            print(name, {way: f"{min(cpu for cpu, _ in runs):.3f}" for way, runs in seconds.items()}, flush=True)
            passed = min(wall for (_, way), runs in seconds.items() if way.startswith("OpenMP") for _, wall in runs)
            if not LEAST <= passed <= MOST:
                print(f"{name}: the OpenMP program takes {passed:.2f} s, not {LEAST} to {MOST} s", flush=True)
    return "\n".join(failed) or None


if __name__ == "__main__":
    sys.exit(main())
