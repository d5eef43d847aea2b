#!/usr/bin/env python3
"""docs/speed.md is made of the history of the benchmark: each figure's last value, met or not, and a row for each record."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import history  # noqa: E402
import openmp  # noqa: E402


def record(date, **figures):
    return {"date": date, "commit": "abc", "machine": "a CPU, 2 CPUs", "load": 0.1, "figures": figures}


def check_multiples():
    """A column for each CPU and its vectors, and the spread only where the same record has it."""
    wide = record("2026-01-01", **{"pocl.mm.1": 25.0, "pocl.mm.1.least": 24.0, "pocl.mm.1.most": 26.0, "pocl.mmt.1": 2.0})
    narrow = {**record("2026-01-02", **{"pocl.mm.1": 12.5, "pocl.mm.1.least": 11.0, "pocl.mm.1.most": 14.0}), "vectors": "AVX2"}
    text = history.document([wide, narrow, record("2026-01-03", **{"pocl.mmt.1": 3.0})])
    for line in ("| what | goal | a CPU, AVX-512 | a CPU, AVX2 |",
                 "| naive multiplication 512, 16 x 16, 1 thread | 25 | 25.00 (24.00 to 26.00) | 12.50 (11.00 to 14.00) |",
                 "| tiled multiplication 512, 1 thread | 20 | 3.00 |  |", "### a CPU, AVX2"):
        assert line in text.splitlines(), f"{line}\nis not in\n{text}"


def check_openmp():
    """Pairs of runs against the better wait policy; a mean needs all programs."""
    rows = [("AVX-512", "old", "a", "uncounted before", "2.0"), ("", "new", "a", "OpenMP", "3.0 3.0 3.0"),
            ("", "new", "a", "OpenMP passive", "1.0 2.0 1.0"), ("AVX-512", "new", "a", "uncounted", "0.5 0.5 0.25"),
            ("AVX2", "new", "a", "uncounted", "1.0 1.0 1.0"), ("", "new", "b", "OpenMP", "1.0 1.0 1.0"),
            ("AVX-512", "new", "b", "uncounted", "2.0 2.0 2.0")]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("machine,vectors,commit,date,program,way,seconds,wall,arguments\n")
        file.writelines(f"a CPU,{vectors},{commit},2026-01-01,{program},{way},{seconds},,9\n" for vectors, commit, program, way, seconds in rows)
        file.flush()
        lines = openmp.section(pathlib.Path(file.name))
    for line in ("### a CPU", "Measured: new, 2026-01-01, 3 runs. *Before*: old, 2026-01-01.",
                 "| program | OpenMP, s | AVX-512, no counters before | AVX-512, no counters | AVX2, no counters |",
                 "| a | 1.00 | 0.50 | 4.00 (2.00 to 4.00) | 1.00 (1.00 to 2.00) |", "| b | 1.00 |  | 0.50 |  |",
                 "| geometric mean | |  | 1.41 |  |"):
        assert line in lines, f"{line}\nis not in\n" + "\n".join(lines)


def check_openmp_sizes():
    """Rows without arguments have older sizes, and a table of their own. Of the others, the seconds that passed are shown."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = pathlib.Path(folder) / "old.csv", pathlib.Path(folder) / "new.csv"
        old.write_text("machine,vectors,commit,date,program,way,seconds\na CPU,,old,2026-01-01,a,OpenMP,3.0\n", encoding="utf-8")
        new.write_text("machine,vectors,commit,date,program,way,seconds,wall,arguments\na CPU,,new,2026-01-02,a,OpenMP,6.0,4.0,9\n"
                       "a CPU,,new,2026-01-02,a,large pages,5.0,4.0,9\na CPU,AVX2,new,2026-01-02,a,uncounted,2.0,1.0,9\n"
                       "a CPU,,old,2026-01-01,b,OpenMP,3.0,,\n", encoding="utf-8")
        older, lines = openmp.section(old), openmp.section(new)
    assert "### a CPU, older sizes" in older and "### a CPU" not in older, older
    for line in ("### a CPU", "### a CPU, older sizes", "| program | OpenMP, s | seconds passed | large pages | AVX2, no counters |",
                 "| a | 6.00 | 4.00 | 5.00 | 3.00 |"):
        assert line in lines, f"{line}\nis not in\n" + "\n".join(lines)


def main():
    check_multiples()
    check_openmp()
    check_openmp_sizes()
    text = history.document([record("2026-01-01", **{"pocl.mm.1": 12.5, "launch.stream": 9.0}),
                             record("2026-01-02", **{"pocl.mm.1": 26.0}),
                             record("2026-01-03", **{"start.none": 12.0, "instructions.mm": 500.0})])
    for line in ("| naive multiplication 512, 16 x 16, 1 thread | 26.00 | 25 | x PoCL | yes | abc, 2026-01-02 |",
                 "| 100,000 launches, one wait | 9.00 | 3 | us each | no | abc, 2026-01-01 |",
                 "| start: cudaFree(0) alone | 12.00 | 60 | ms | yes | abc, 2026-01-03 |",
                 "| naive multiplication 512, 16 x 16: warp instructions | 500 |  | million/s |  | abc, 2026-01-03 |"):
        assert line in text, f"{line}\nis not in\n{text}"
    assert text.count("| 2026-01-0") == 3, text
    # What a row of goals() measures has a name that some part gives.
    assert not [name for name in history.goals() if name.split(".")[0] not in
                ("pocl", "scaling", "launch", "memory", "start", "instructions", "units")]


if __name__ == "__main__":
    main()
