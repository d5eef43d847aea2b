#!/usr/bin/env python3
"""Runs clang-tidy 19 with the checks of .clang-tidy on the sources of src/ that a build compiles.

  tidy.py [--build FOLDER] [--profile] [--half 0|1] [FILE...]

FILE: only the groups (cmake/Unity.cmake) that compile this source, or for a header those of its folder. --profile also prints the
seconds of each check. --half: every second group only. Exit code 0: no finding; 1: findings; 77: skipped, and the last line says why.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def skip(reason):
    print(reason)
    sys.exit(SKIPPED)


def groups_of(build):
    """Sources of each compiled file of src/: itself, or the members of its group. Equal sets of sources appear once."""
    groups = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"])
        if file.suffix not in (".cpp", ".cxx"):
            continue
        grouped = build in file.parents
        sources = tuple(INCLUDE.findall(file.read_text())) if grouped else (str(file),)
        if all(ROOT / "src" in pathlib.Path(source).parents for source in sources):
            groups.setdefault(sources, file)
    return {file: sources for sources, file in groups.items()}


def compiles(sources, wanted):
    """Whether a group with these sources has one of the wanted files, or a source in the folder of a wanted header."""
    return any(pathlib.Path(source) == file or (file.suffix != ".cpp" and file.parent in pathlib.Path(source).parents)
               for source in sources for file in wanted)


def run(tidy, build, file, profiles):
    profile = ["--enable-check-profile", f"--store-check-profile={profiles}"] if profiles else []
    done = subprocess.run([tidy, "--quiet", "-p", build, f"--config-file={ROOT / '.clang-tidy'}", *profile, file],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Besides findings, clang-tidy writes the number of warnings in other headers.
    return done.returncode, done.stdout or (done.stderr if done.returncode else "")


def print_profile(folder):
    seconds = collections.Counter()
    for file in pathlib.Path(folder).glob("*.json"):
        for name, value in json.loads(file.read_text())["profile"].items():
            if name.endswith(".user"):
                seconds[name.removeprefix("time.clang-tidy.").removesuffix(".user")] += value
    for name, value in seconds.most_common():
        print(f"{value:8.2f} s  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--half", choices=[0, 1], type=int)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    tidy = shutil.which("clang-tidy-19")
    if not tidy:
        skip("clang-tidy-19 is not installed (Debian: apt-get install clang-tidy-19)")
    build = options.build.resolve()
    if not (build / "compile_commands.json").is_file():
        skip(f"nothing is built in {build}")
    groups = groups_of(build)
    wanted = [file.resolve() for file in options.files]
    files = [file for file, sources in groups.items() if not wanted or compiles(sources, wanted)]
    if not files:
        sys.exit(f"tidy.py: {build} compiles none of these files")
    files.sort(key=lambda file: -sum(os.path.getsize(source) for source in groups[file]))  # the longest first
    if options.half is not None:
        files = files[options.half::2]
    good = True
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        profiles = folder if options.profile else None
        for code, text in pool.map(lambda file: run(tidy, build, file, profiles), files):
            good = good and code == 0
            print(text, end="", flush=True)
        if profiles:
            print_profile(profiles)
    print(f"clang-tidy: {len(files)} groups of sources, {'no findings' if good else 'findings above'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
