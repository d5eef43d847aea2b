#!/usr/bin/env python3
"""Writer of the figures in README.md and docs/reports.md: output of commands, and numbers from other files.

    scripts/readme_figures.py --build build            replaces the text between the marks
    scripts/readme_figures.py --build build --check    prints a diff and exits with 1 if something there is out of date

A mark is <!-- figures: NAME --> ... <!-- end -->; the function NAME below (with _ for -) returns the text.
Output comes from programs built by nvcc: clang's PTX differs in places. Without them nothing is checked (exit code 77).
"""
import argparse
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MARK = re.compile(r"(<!-- figures: ([a-z0-9-]+) -->\n?)(.*?)(<!-- end -->)", re.DOTALL)
LADDER = ["--rung", "copy", "--rung", "naive", "--rung", "shared", "--rung", "padded"]


def output(build, arguments, stream):
    command = [os.path.join(build, "bin/warpgrind"), *arguments]
    # Lines of the usual terminal width, whatever the caller's is, and no files of earlier runs.
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return {"out": done.stdout, "errors": done.stderr}[stream], done.stdout


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def found(pattern, text, where):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"{where}: nothing matches {pattern!r}")
    return match


def first(build):
    """Output of a run of examples/transpose.cu, up to the title of the first advice."""
    profile, program = output(build, ["run", "examples/transpose.cu"], "errors")
    lines = profile.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("-- transpose("))
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("     at transpose.cu:")) + 1
    return "\n".join(["```", "$ warpgrind run examples/transpose.cu", *program.splitlines(), *lines[begin:end], "```"]) + "\n"


def picture(build):
    """The store of examples/transpose.cu."""
    lines = output(build, ["explain", "examples/transpose.cu", "--line", "10"], "out")[0].splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("store to global memory"))
    while not lines[-1].strip():
        lines.pop()
    return "\n".join(["```", "$ warpgrind explain examples/transpose.cu --line 10", "...", *lines[begin:], "```"]) + "\n"


def line_with(path, text):
    """Number of the first line of the file that holds the text."""
    return next(i for i, line in enumerate(text_of(path).splitlines(), 1) if text in line)


def explained(build, text, end):
    """What `explain` prints about a line of examples/tensor_transpose.cu, without the names above it, up to the line that begins with `end`."""
    arguments = ["explain", "examples/tensor_transpose.cu", "--line", str(line_with("examples/tensor_transpose.cu", text))]
    lines = output(build, arguments, "out")[0].rstrip("\n").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(("tensor load", "load from")))
    last = next((i for i in range(begin, len(lines)) if lines[i].startswith(end)), len(lines))
    shown = lines[begin:last] if last == len(lines) else lines[begin:last - 1] + ["..."]  # without the empty line before it
    return "\n".join(["```", "$ warpgrind " + " ".join(arguments), "...", *shown, "```"]) + "\n"


def tensor_copy(build):
    return explained(build, '"l"(&map)', "  most outside:")


def tensor_reader(build):
    return explained(build, "tile[row][", "  best:")


def lab(build):
    text = output(build, ["lab", "transpose", *LADDER], "out")[0].splitlines()
    begin = next(i for i, line in enumerate(text) if line.startswith("1024x1024 float"))
    end = next((i for i in range(begin, len(text)) if not text[i]), len(text))
    return "\n".join(["```", "$ warpgrind lab transpose " + " ".join(LADDER), *text[begin:end], "```"]) + "\n"


def accuracy(_):
    m = found(r"to all other topics\. (\d+) rows.*?median error ([0-9.]+) %, 90 % of the rows within ([0-9.]+) %, ([0-9.]+) % within 30 %",
              text_of("docs/accuracy.md"), "docs/accuracy.md")
    return f"half of {m[1]} rows within {m[2]} %, nine in ten within {m[3]} %"


def accuracy_h100(_):
    m = found(r"median error ([0-9.]+) %, 90 % of the rows within ([0-9.]+) %", text_of("docs/accuracy-h100.md"), "docs/accuracy-h100.md")
    return f"{m[1]} and {m[2]} %"


def programs(_):
    page = "docs/accuracy-programs.md"
    m = found(r"(\d+) programs of HeCBench", text_of(page), page)
    row = found(r"\| all \| \d+ \| ([0-9.]+) % \| ([0-9.]+) %", text_of(page), page)
    return f"{m[1]} public programs, half of the kernels within {row[1]} %, {row[2]} % within 30 %"


def programs_h200(_):
    page = "docs/accuracy-programs-h200.md"
    text = text_of(page)
    m = found(r"(\d+) programs on one NVIDIA H200.*?Unseen: (\d+) programs", text, page)
    # median | mean | within 30 %
    row, unseen = (found(r"\| " + rows + r" \| \d+ \| ([0-9.]+) % \| [0-9.]+ % \| ([0-9.]+) %", text, page)
                   for rows in ("all", "unseen programs"))
    return (f"{m[1]} public programs, half of the kernels within {row[1]} %, {row[2]} % within 30 %; "
            f"of {m[2]} unseen ones, within {unseen[1]} % and {unseen[2]} %")


def models(_):
    return str(len([f for f in os.listdir(os.path.join(ROOT, "src/common/gpu/models")) if f.endswith(".json")]))


def exercises(_):
    folder = os.path.join(ROOT, "exercises")
    return str(len([f for f in os.listdir(folder) if os.path.exists(os.path.join(folder, f, "exercise.json"))]))


def topics(_):
    folder = os.path.join(ROOT, "lab")
    return str(len([f for f in os.listdir(folder) if os.path.exists(os.path.join(folder, f, "chapter.json"))]))


FIGURES = {"README.md": {"first": first, "picture": picture, "lab": lab, "accuracy": accuracy, "accuracy-h100": accuracy_h100,
                         "programs": programs, "programs-h200": programs_h200, "models": models, "exercises": exercises, "topics": topics},
           "docs/reports.md": {"tensor-copy": tensor_copy, "tensor-reader": tensor_reader}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with open(os.path.join(build, "compilers.txt"), encoding="utf-8") as f:
        built_by = f.read().split()[0]
    if built_by != "nvcc":
        print("skipped: the documents show programs that nvcc built, and these were built by " + built_by)
        return 77
    if not os.path.exists(os.path.join(build, "lab/transpose")):
        print("skipped: lab/transpose is not built")
        return 77
    late = 0
    for document, figures in FIGURES.items():
        before = text_of(document)
        names = [m[1] for m in MARK.findall(before)]
        if sorted(names) != sorted(figures):
            sys.exit(f"{document} has marks {sorted(names)}, this script figures {sorted(figures)}")
        after = MARK.sub(lambda m: m[1] + figures[m[2]](build) + m[4], before)
        if options.check:
            diff = list(difflib.unified_diff(before.splitlines(), after.splitlines(), document, "as it is now", lineterm=""))
            print("\n".join(diff) if diff else f"{document}: {len(names)} figures are up to date")
            late |= bool(diff)
        else:
            with open(os.path.join(ROOT, document), "w", encoding="utf-8") as f:
                f.write(after)
    if late:
        print("scripts/readme_figures.py writes them")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
