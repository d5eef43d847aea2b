"""Rodinia's CUDA programs against its OpenMP programs: the section of docs/speed.md, made of openmp.csv."""
import csv
import math
import pathlib
import statistics

ROWS = pathlib.Path(__file__).resolve().parent / "openmp.csv"
LARGE_PAGES = "large pages"  # the OpenMP program with large pages for malloc
BEFORE = " before"  # end of a way's name: measured with an earlier commit


class Machine:
    """The rows of one CPU."""

    def __init__(self, rows):
        self.rows = rows
        self.runs = {(row["program"], row["vectors"], row["way"]): [float(s) for s in row["seconds"].split()] for row in rows}
        self.programs = list(dict.fromkeys(row["program"] for row in rows))
        self.walls = {(row["program"], row["way"]): [float(s) for s in row["wall"].split()] for row in rows if row["wall"]}
        measured = [(row["vectors"], row["way"]) for row in rows if row["vectors"]]
        order = ("AVX-512", "AVX2"), ("uncounted" + BEFORE, "counted" + BEFORE, "uncounted", "counted")
        self.columns = sorted(set(measured), key=lambda column: (not column[1].endswith(BEFORE), *map(tuple.index, order, column)))

    def openmp(self, program):
        """Runs of the OpenMP program with the better wait policy; None if it was not measured."""
        both = [runs for (name, _, way), runs in self.runs.items() if name == program and way.startswith("OpenMP")]
        return min(both, key=statistics.median, default=None)

    def openmp_wall(self, program):
        """Seconds that passed with the better wait policy; None if they were not measured."""
        both = [statistics.median(runs) for (name, way), runs in self.walls.items() if name == program and way.startswith("OpenMP")]
        return min(both, default=None)

    def large_pages(self, program):
        runs = self.runs.get((program, "", LARGE_PAGES))
        return statistics.median(runs) if runs else None

    def times(self, program, column):
        """How many times faster than OpenMP, by pairs of runs that took turns: median, least, greatest."""
        ours, openmp = self.runs.get((program, *column)), self.openmp(program)
        if not ours or not openmp:
            return None
        if len(ours) != len(openmp):
            ours, openmp = [statistics.median(ours)], [statistics.median(openmp)]
        pairs = [a / b for a, b in zip(openmp, ours)]
        return statistics.median(pairs), min(pairs), max(pairs)

    def mean(self, column):
        """Geometric mean over all programs; None if one was not measured."""
        all_times = [self.times(program, column) for program in self.programs]
        return math.exp(statistics.fmean(math.log(t[0]) for t in all_times)) if all(all_times) else None

    def table(self):
        heads = [f"{vectors}, {'no counters' if way.startswith('un') else 'counted'}{BEFORE if way.endswith(BEFORE) else ''}"
                 for vectors, way in self.columns]
        more = ["seconds passed", "large pages"] if self.walls else []
        out = ["| " + " | ".join(["program", "OpenMP, s", *more, *heads]) + " |", "|---|" + "--:|" * (1 + len(more) + len(heads))]
        for program in self.programs:
            cells = [f"{statistics.median(self.openmp(program)):.2f}"]
            cells += [f"{s:.2f}" if s else "" for s in (self.openmp_wall(program), self.large_pages(program))[:len(more)]]
            cells += [cell(self.times(program, column)) for column in self.columns]
            out.append(f"| {program} | " + " | ".join(cells) + " |")
        means = [self.mean(column) for column in self.columns]
        out.append("| geometric mean | | " + "| " * len(more) + " | ".join(f"{mean:.2f}" if mean else "" for mean in means) + " |")
        return out

    def measured(self):
        """Commits and dates of the rows, now and before, and the number of runs."""
        def places(before):
            return sorted({f"{r['commit']}, {r['date']}" for r in self.rows if r["way"].endswith(BEFORE) == before})
        earlier = places(True)
        runs = max(len(r["seconds"].split()) for r in self.rows)
        return "; ".join(places(False)) + (f", {runs} runs" if runs > 1 else "") + (f". *Before*: {'; '.join(earlier)}" if earlier else "")


def cell(times):
    if not times:
        return ""
    median, least, greatest = times
    return f"{median:.2f}" if least == greatest else f"{median:.2f} ({least:.2f} to {greatest:.2f})"


def read(path):
    """Rows of the file. Those of files without `wall` and `arguments`, which were measured before 2026-12-01, have them empty."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [{"wall": "", "arguments": "", **row} for row in csv.DictReader(file)]


def section(path=ROWS):
    rows = read(path)
    out = ["## Rodinia's CUDA programs against its OpenMP programs", "",
           "How many times faster than the OpenMP program: CPU seconds (user and system) of whole programs, two threads each. Each program's "
           "size is chosen so that the OpenMP program takes 0.5 to 5 s (*seconds passed*). Compiled kernels are in the cache, after four "
           "runs (better code comes after four at most). All ways to run a program take turns: medians of the "
           "pairs, and the least and the greatest. The CUDA programs are built by nvcc 13.0 with -O3, lud with -use_fast_math as its Makefile "
           "says, cfd with 80 iterations. The others are built by gcc 12 with -O3 for any x86-64, and run with the better of two wait policies (OMP_WAIT_POLICY unset or "
           "passive). `warpgrind run` sets large pages for malloc; *large pages* are the CPU seconds of the OpenMP program with the same "
           "setting, which the ratios do not use. *AVX2* is the same CPU with WARPGRIND_AVX2=1: neither our C++ nor the JIT uses AVX-512. `bench/openmp_measure.py` "
           "measures, holds the arguments and makes the input files, which are random. `bench/openmp.csv` has the seconds. srad_v2 is left "
           "out: it reads outside its memory and stops."]
    for name, has_arguments in dict.fromkeys((row["machine"], bool(row["arguments"])) for row in rows):
        machine = Machine([row for row in rows if (row["machine"], bool(row["arguments"])) == (name, has_arguments)])
        title = name if has_arguments else f"{name}, older sizes"
        note = "" if has_arguments else " Smaller sizes: most OpenMP programs take less than 0.5 s, and warm caches are after twelve runs."
        out += ["", f"### {title}", "", f"Measured: {machine.measured()}.{note}", "", *machine.table()]
    return out
