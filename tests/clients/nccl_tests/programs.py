#!/usr/bin/env python3
"""NVIDIA's nccl-tests on virtual GPUs: each of its programs with all types and operations that it takes.

  programs.py WARPGRIND [--nccl-tests FOLDER] [--programs all_reduce ...] [--ranks '-g 2' '-t 4' ...] [--seconds 300]      or --list

FOLDER holds the built programs (all_reduce_perf, ...); $WARPGRIND_NCCL_TESTS names it, too. The programs compare each result with one that
they compute without NCCL. `mpi 2 -g 2`: two processes of two GPUs each, where the programs are built with MPI.

Prints a line for each run. Exit code 1: one failed; 77: there is no such folder. --self-test: judges invented outputs, and needs no folder."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PROGRAMS = ("all_reduce", "all_gather", "alltoall", "alltoallv", "broadcast", "gather", "hypercube", "reduce", "reduce_scatter", "scatter",
            "sendrecv")
RANKS = ("-g 2", "-g 4", "-t 2", "-t 4", "mpi 2 -g 1", "mpi 2 -g 2")
REDUCE = ("all_reduce", "reduce", "reduce_scatter")
# 5 sizes of 8 to 32,768 bytes, one measured repetition.
SIZES = ("-b", "8", "-e", "64K", "-f", "8", "-n", "1", "-w", "0", "-d", "all", "-o", "all")
TYPES, OPERATIONS = 12, 6
HOW_TO_GET = ("build github.com/NVIDIA/nccl-tests against warpgrind's nccl.h and libnccl.so.2 (docs/clients.md), and name its build folder "
              "by --nccl-tests or WARPGRIND_NCCL_TESTS")


def shape_of(ranks):
    """(processes, GPUs of a process, GPUs of a thread, options of the program)."""
    words = ranks.split()
    processes = int(words[1]) if words[0] == "mpi" else 1
    options = words[2:] if words[0] == "mpi" else words
    number = lambda letter: int(options[options.index(letter) + 1]) if letter in options else 1
    return processes, number("-t") * number("-g"), number("-g"), options


def left_out(program, ranks):
    """Why the run says nothing about NCCL; "": it does."""
    processes, gpus, of_thread, _ = shape_of(ranks)
    if program == "hypercube" and processes * gpus > 2 and of_thread > 1:
        return "its steps are one group if a thread has several GPUs, and operations of a group have no order"
    return ""


def judge(program, status, text):
    """(why the run failed, "" if it passed; what it tried)."""
    if status is None:
        return "it did not end", ""
    # Programs that take no operation leave this column empty or repeat "none".
    rows = re.findall(r"^ +\d+ +\d+ +(\w+) +(?:([a-z]\w*) +)?-?\d+ .*$", text, re.M)
    types, operations = {row[0] for row in rows}, {row[1] for row in rows}
    tried = f"{len(rows)} rows, {len(types)} types" + (f", {len(operations)} operations" if program in REDUCE else "")
    result = re.search(r"^# Out of bounds values : (\d+) (\w+)$", text, re.M)
    if not result:
        return f"exit code {status}, no result: " + "; ".join(text.strip().splitlines()[-2:]), tried
    if status != 0 or result.groups() != ("0", "OK"):
        return f"exit code {status}, {result[1]} wrong values, {result[2]}", tried
    if len(types) < TYPES or program in REDUCE and len(operations) < OPERATIONS:
        return f"not all types and operations: {tried}", tried
    return "", tried


def attempt(warpgrind, folder, program, ranks, seconds):
    processes, gpus, _, options = shape_of(ranks)
    # Each process has virtual GPUs of its own, but processes of one host take different ones.
    under = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(processes)] if ranks.startswith("mpi") else []
    command = [*under, warpgrind, "run", "--quiet", "--no-counters", "--devices", str(processes * gpus), f"./{program}_perf", *options, *SIZES]
    begin = time.monotonic()
    try:
        ended = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", timeout=seconds)
        status, text = ended.returncode, ended.stdout
    except subprocess.TimeoutExpired:
        status, text = None, ""
    why, tried = judge(program, status, text)
    print(f"FAILED {program} {ranks}: {why}" if why else f"passed {program} {ranks}: {tried}, {time.monotonic() - begin:.0f} s", flush=True)
    return bool(why)


def uses_mpi(program):
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return "libmpi" in linked and shutil.which("mpirun") is not None


def self_test():
    row = lambda kind, operation: f"{8:>12} {2:>12} {kind:>9} {operation:>7} {-1:>7} 1.00 0.00 0.00 {0:>7} 1.00 0.00 0.00 {0:>7}\n"
    rows = "".join(row(f"t{t}", f"o{o}") for t in range(TYPES) for o in range(OPERATIONS))
    good, wrong = "# Out of bounds values : 0 OK\n", "# Out of bounds values : 96 FAILED\n"
    cases = [("all_reduce", 0, rows + good, True), ("all_reduce", 1, rows + wrong, False), ("all_reduce", 0, rows + wrong, False),
             ("all_reduce", 3, rows + good, False), ("all_reduce", 0, rows, False), ("all_reduce", None, "", False),
             ("all_reduce", 0, rows.replace("t7", "t6") + good, False), ("reduce", 0, rows.replace("o5", "o4") + good, False),
             ("sendrecv", 0, rows.replace("o5", "o4") + good, True), ("sendrecv", 0, good, False),
             ("hypercube", 0, "".join(row(f"t{t}", "") for t in range(TYPES)) + good, True)]
    bad = [case for case in cases if (judge(*case[:3])[0] == "") != case[3]]
    print(f"{len(cases)} outputs judged, {len(bad)} wrongly", *(f"{program}, exit code {status}" for program, status, *_ in bad), sep="\n  ")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpgrind", nargs="?", type=pathlib.Path)
    parser.add_argument("--nccl-tests", type=pathlib.Path, default=os.environ.get("WARPGRIND_NCCL_TESTS"))
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--ranks", nargs="*", default=RANKS)
    parser.add_argument("--seconds", type=float, default=300, help="for each run")
    parser.add_argument("--list", action="store_true", help="the runs that are tried")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if args.list:
        print(*(f"{program} {ranks}" for ranks in args.ranks for program in args.programs), sep="\n")
        return 0
    if not args.warpgrind:
        parser.error("which warpgrind?")
    folder = args.nccl_tests and pathlib.Path(args.nccl_tests).resolve()
    if not folder or not any((folder / f"{program}_perf").exists() for program in args.programs):
        print(f"skipped: no programs of nccl-tests: {HOW_TO_GET}")
        return 77
    failed = 0
    for ranks in args.ranks:
        for program in args.programs:
            why = left_out(program, ranks)
            if not (folder / f"{program}_perf").exists():
                why = "it is not in the folder"
            elif ranks.startswith("mpi") and not uses_mpi(folder / f"{program}_perf"):
                why = "it is built without MPI, or there is no mpirun"
            if why:
                print(f"skipped {program} {ranks}: {why}", flush=True)
                continue
            failed += attempt(str(args.warpgrind.resolve()), folder, program, ranks, args.seconds)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
