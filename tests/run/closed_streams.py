#!/usr/bin/env python3
"""Programs started without standard streams, as `PROGRAM >&-`: a file that warpgrind opens does not become their output.

  closed_streams.py --list
  closed_streams.py --build DIR NAME     exit code 0 passed, 1 failed
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402

ALL = (0, 1, 2)


def streams(build, folder, before, closed, *after):
    """What the program finds as its standard streams, and of the GPU's memory, in a dictionary."""
    answer = folder / "answer"
    command = [*before, str(build / "tests/run/closed_streams"), str(answer), *after]

    def close():
        for number in closed:
            os.close(number)

    with open(folder / "output", "w") as output:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=close,
                              env=whole_run.environment(TMPDIR=str(folder), XDG_CACHE_HOME=str(build / "test-cache")))
    assert done.returncode == 0, f"exit code {done.returncode}: {(folder / 'output').read_text()}"
    return dict(line.split(": ", 1) for line in answer.read_text().splitlines())


def check(found, closed, open_ones):
    wanted = {str(n): "/dev/null" if n in closed or n == 0 else open_ones for n in ALL} | {"memory": "kept"}
    return [f"{name}: {found.get(name)}, expected {want}" for name, want in wanted.items() if found.get(name) != want]


def run_of(closed):
    def case(build, folder):
        profile = folder / "profile.json"
        command = [str(build / "bin/warpgrind"), "run", "--json", str(profile)]
        problems = check(streams(build, folder, command, closed), closed, str(folder / "output"))
        return problems + ([] if profile.read_text().startswith("{") else ["the profile is not JSON alone"])
    return case


def program_alone(build, folder):
    """Linked with our libraries, without `warpgrind run`."""
    return check(streams(build, folder, [], ALL), ALL, "")


def closed_by_the_program(build, folder):
    """A program that closes its streams itself keeps them closed."""
    found = streams(build, folder, [], (), "close")
    wanted = {str(n): "closed" for n in ALL} | {"memory": "kept"}
    return [] if found == wanted else [f"found {found}, expected {wanted}"]


def other_streams_stay(build, folder):
    return check(streams(build, folder, [], ()), (), str(folder / "output"))


CASES = {"no_input": run_of([0]), "no_output": run_of([1]), "no_errors": run_of([2]), "none": run_of(ALL),
         "program_alone": program_alone, "closed_by_the_program": closed_by_the_program,
         "other_streams_stay": other_streams_stay}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    if args.list:
        print("\n".join(CASES))
        return 0
    with tempfile.TemporaryDirectory(prefix="closed-streams-") as folder:
        problems = CASES[args.name](args.build.resolve(), pathlib.Path(folder).resolve())
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
