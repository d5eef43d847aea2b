"""Rodinia's CUDA programs against its OpenMP programs: the section of docs/speed.md, made of openmp.csv."""
import csv
import math
import pathlib

ROWS = pathlib.Path(__file__).resolve().parent / "openmp.csv"
RUNS = (("before", "before, no counters"), ("before_counted", "before, counted"), ("after", "now, no counters"), ("after_counted", "now, counted"))


def section():
    with open(ROWS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    out = ["## Rodinia's CUDA programs against its OpenMP programs", "",
           "How many times faster than the OpenMP program: CPU seconds (user and system) of whole programs, two threads each, compiled kernels in "
           "the cache, after twelve runs (better code comes after some runs). The CUDA programs are built by nvcc 13.0 with -O3, lud with "
           "-use_fast_math as its Makefile says. The others are built by gcc 12 with -O3, and run with the better of OMP_WAIT_POLICY's two values. "
           "Measured on 2026-11-30 on two hyperthreads of an AMD EPYC (family 25, model 17), with nothing else to do: medians of five runs. "
           "*Before* is commit 8a17ed34, where it was measured, on a busy machine. bench/openmp.csv has seconds and arguments. Input files are "
           "random. srad_v2 is left out: it reads outside its memory and stops.", "",
           "| program | OpenMP, s | " + " | ".join(head for _, head in RUNS) + " |", "|---|" + "--:|" * (1 + len(RUNS))]
    for row in rows:
        cells = [f"{float(row['openmp']) / float(row[run]):.2f}" if row[run] else "" for run, _ in RUNS]
        out.append(f"| {row['program']} | {float(row['openmp']):.2f} | " + " | ".join(cells) + " |")
    means = []
    for run in ("after", "after_counted"):
        logarithms = [math.log(float(row["openmp"]) / float(row[run])) for row in rows]
        means.append(f"{math.exp(sum(logarithms) / len(logarithms)):.2f}")
    out.append("| geometric mean | | | | " + " | ".join(means) + " |")
    return out
