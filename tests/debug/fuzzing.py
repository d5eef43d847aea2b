"""What the debugger's fuzzers share: the programs they debug, how those are built, and the command line.

A short run, as in CI, debugs programs/sum.cu from its source. With --everything, each run of a program is one of all programs here, as a
source, by `nvcc -G` or by `nvcc -O3 -lineinfo`, with and without --check.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
WORDS = {  # the arguments that choose what a program launches
    "sum": ["", "", "1", "2", "3"],
    "walks": ["shared_memory", "atomics", "local_array", "prints", "divided", "second_warp", "leftovers"],
    "steps": ["", "more"],
    "stops": ["reverse", "unset", "outside", "split", "twice", "api"],
    "core": ["", "bounds", "trap", "assert", "heap", "texture", "clock"],
    "host": [""],
    "allocates": [""],
    "launches": ["small", "frees", "managed", "faults", "undefined"],
    "children": [""],
    "processes": ["", "children 2", "later", "exec", "used-exec"],
    "acceptance": ["all", "primitives", "arrays", "structures", "enumerations", "spaces", "functions", "steps", "templates", "undefined", "narrow",
                   "assert", "trap", "bounds", "shared", "null", "misaligned"],
}
BUILDS = {"source": None, "debug": ["-G", "-g"], "optimised": ["-O3", "-lineinfo"]}
LINKED = {"children": ["-rdc=true", "-lcudadevrt"]}  # only nvcc compiles such programs
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
KEYWORDS = {"for", "if", "while", "return", "sizeof", "__syncthreads", "else", "switch"}


class Target:
    """A program to debug: `program` is its source or an executable."""

    def __init__(self, name, how="source", words=(), check=False):
        self.name, self.how, self.words, self.check = name, how, list(words), check
        self.source = str(PROGRAMS / f"{name}.cu")
        self.program = self.source
        text = pathlib.Path(self.source).read_text()
        self.line_count = text.count("\n")
        self.kernels = re.findall(r"__global__ void (\w+)\(", text)
        device = text.split("int main(")[0]
        self.names = sorted(set(re.findall(r"\b(?:int|float|double|T|Point|unsigned|char|Node|bool)\*? (\w+)\b", device)) - KEYWORDS)
        self.code_lines = [n for n, line in enumerate(device.split("\n"), 1) if line.startswith("  ")]

    def __str__(self):
        return f"{self.name}.cu ({self.how}{', --check' if self.check else ''}) {' '.join(self.words)}".rstrip()


class Targets:
    """Chooses the program of the next run."""

    def __init__(self, build, seed, everything):
        self.build, self.everything = build, everything
        self.chance = random.Random(seed)
        self.seen = {}

    def next(self, may_check=True):
        chance = self.chance
        if not self.everything:
            return self.note(Target("sum", words=chance.choice(WORDS["sum"]).split()))
        name = chance.choice(sorted(WORDS))
        ways = sorted(BUILDS.keys() - ({"source"} if name in LINKED else set()))
        target = Target(name, chance.choice(ways), chance.choice(WORDS[name]).split(), may_check and chance.random() < 0.25)
        if BUILDS[target.how]:
            target.program = self.executable(target)
        return self.note(target)

    def note(self, target):
        kind = f"{target.name}.cu ({target.how}{', --check' if target.check else ''})"
        self.seen[kind] = self.seen.get(kind, 0) + 1
        return target

    def executable(self, target):
        folder = self.build / "test-cache/fuzzed"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{target.name}_{target.how}"
        if not path.exists() or path.stat().st_mtime < pathlib.Path(target.source).stat().st_mtime:
            unfinished = folder / f"{path.name}.{random.SystemRandom().randrange(10**9)}"
            subprocess.run([NVCC, *BUILDS[target.how], *LINKED.get(target.name, []), "-arch=sm_80", "-std=c++17", "-o", str(unfinished), target.source], check=True)
            unfinished.rename(path)
        return str(path)


def run(cases, description, unit, failures=()):
    """The command line of a fuzzer. `cases`: case(build, seed, count, targets) -> number of its default count."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(f"--{unit}", dest="count", type=int)
    parser.add_argument("--everything", action="store_true", help="all programs, built in all ways, with and without --check")
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in cases))
        return 0
    for case, count in cases.items():
        if options.case not in (None, case.__name__):
            continue
        targets = Targets(options.build.resolve(), options.seed, options.everything)
        try:
            case(options.build.resolve(), options.seed, options.count or count, targets)
        except failures as failure:
            print(f"{case.__name__}, seed {options.seed}: {failure}")
            return 1
        finally:
            if options.everything:
                print("\n".join(f"{n} times {kind}" for kind, n in sorted(targets.seen.items())))
    return 0
