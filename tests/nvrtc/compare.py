#!/usr/bin/env python3
"""Comparison of calls.py's output for a libnvrtc with that of NVIDIA's 13.0.88 (nvidia.txt).

  compare.py --library libnvrtc.so.13 --warpgrind PROGRAM    ours: equal but for differences.txt, and its PTX is PTX
  compare.py --nvidia [FOLDER]                               NVIDIA's, where a toolkit is: equal (77: there is none)
  compare.py --nvidia [FOLDER] --record                      writes nvidia.txt
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from calls import PARTS

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77


def lines_of(library, ptx=None, preload=None):
    env = dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))

    def run(part):
        command = [sys.executable, HERE / "calls.py", "--library", library, "--part", part] + (["--ptx", ptx] if ptx else [])
        return subprocess.run(command, env=env, capture_output=True, text=True)
    out = {}
    with concurrent.futures.ThreadPoolExecutor(len(PARTS)) as pool:
        for done in pool.map(run, PARTS):
            if done.returncode:
                sys.exit(done.stdout[-2000:] + done.stderr)
            out.update(line.split("\t") for line in done.stdout.splitlines())
    return out


def read(name):
    return [line.split("\t") for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def compare(expected, got):
    problems = [f"{what}\n  expected {expected[what]}\n  got      {got.get(what)}" for what in expected if got.get(what) != expected[what]]
    return problems + [f"{what}: not in the file" for what in got if what not in expected]


def scan(warpgrind, path):
    done = subprocess.run([warpgrind, "scan", path], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{path.read_text()}\n{done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library")
    parser.add_argument("--warpgrind")
    parser.add_argument("--nvidia", nargs="?", const="/usr/local/cuda/lib64")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    expected = dict(read("nvidia.txt"))
    if args.nvidia:
        library = pathlib.Path(args.nvidia) / "libnvrtc.so.13"
        if not library.exists():
            print(f"skipped: {library} is not there")
            return SKIP
        got = lines_of(library)
        if args.record:
            (HERE / "nvidia.txt").write_text("".join(f"{what}\t{came}\n" for what, came in got.items()))
            return 0
        problems = compare(expected, got)
    else:
        if not shutil.which("clang++-19"):
            print("skipped: clang++-19 is not installed")
            return SKIP
        different = read("differences.txt")
        unknown = [what for what, *_ in different if what not in expected or expected[what] == _[0]]
        expected.update({what: came for what, came, _ in different})
        with tempfile.TemporaryDirectory() as folder:
            got = lines_of(pathlib.Path(args.library).resolve(), folder, os.environ.get("WARPGRIND_TEST_PRELOAD"))
            problems = compare(expected, got) + [f"differences.txt: {what} is no difference" for what in unknown]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                problems += filter(None, pool.map(lambda p: scan(args.warpgrind, p), sorted(pathlib.Path(folder).iterdir())))
    print("\n".join(problems))
    print(f"{len(got)} cases, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
