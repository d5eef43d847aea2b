#!/usr/bin/env python3
"""Writer of the sessions in docs/debugging.md: the debugger's output on the kernels of examples/broken.

    scripts/debugging_sessions.py --warpgrind build/bin/warpgrind            replaces the text between the marks
    scripts/debugging_sessions.py --warpgrind build/bin/warpgrind --check    prints a diff and exits with 1 if the page is out of date

Marks: <!-- kernel: NAME --> ... <!-- end -->    the kernel of examples/broken/NAME.cu, with the numbers of its lines
       <!-- session: NAME --> ... <!-- end -->   a plain run of the program, and the commands of examples/broken/NAME.gdb
Addresses of memory differ from run to run; the page has 0x7... instead. Sessions are the same with nvcc and with clang.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/debugging.md"
BROKEN = "examples/broken"
MARK = re.compile(r"(<!-- (kernel|session): (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
MOST_COMMANDS = 10


def kernel(name, _):
    """The lines between the includes and the host's code."""
    lines = (ROOT / BROKEN / f"{name}.cu").read_text(encoding="utf-8").splitlines()
    first = max(n for n, line in enumerate(lines) if line.startswith("#include")) + 1
    last = next(n for n, line in enumerate(lines) if line.startswith(("int main(", "void ")))
    numbered = [f"{n + 1:3}  {line}".rstrip() for n, line in enumerate(lines)][first:last]
    while numbered[0].strip().isdigit():
        del numbered[0]
    while numbered[-1].strip().isdigit():
        del numbered[-1]
    return "\n".join(["```", *numbered, "```"]) + "\n"


def run(arguments, words):
    environment = dict(os.environ)
    if "WARPGRIND_TEST_PRELOAD" in environment:  # a build for a sanitizer: tests/whole_run.py
        environment["LD_PRELOAD"] = environment["WARPGRIND_TEST_PRELOAD"]
    return subprocess.run([arguments.warpgrind, *words], capture_output=True, text=True, check=False, cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL, timeout=120)


def options(arguments):
    return ["--compiler", arguments.compiler] if arguments.compiler else []


def session(name, arguments):
    source, commands = f"{BROKEN}/{name}.cu", f"{BROKEN}/{name}.gdb"
    plain = run(arguments, ["run", "--quiet", "--threads", "1", *options(arguments), source])
    # The programs report their mistake by exit code 1; others are those of warpgrind.
    if plain.returncode != 1:
        sys.exit(f"{source} is to fail with exit code 1, not {plain.returncode}\n{plain.stdout}{plain.stderr}")
    wanted = (ROOT / commands).read_text(encoding="utf-8").splitlines()
    if len(wanted) > MOST_COMMANDS:
        sys.exit(f"{commands} has {len(wanted)} commands; {MOST_COMMANDS} are the most")
    debugged = run(arguments, ["debug", "--batch", "-x", commands, *options(arguments), source])
    if debugged.returncode != 0:
        sys.exit(f"the session of {commands} failed\n{debugged.stdout}{debugged.stderr}")
    lines = ["```", f"$ warpgrind run --quiet --threads 1 {source}", *plain.stdout.splitlines(), f"$ warpgrind debug {source}",
             *debugged.stdout.splitlines(), "```"]
    return re.sub(r"0x7[0-9a-f]{11}\b", "0x7...", "\n".join(lines)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpgrind", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--compiler", help="nvcc or clang; default: that of warpgrind")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    writers = {"kernel": kernel, "session": session}
    before = PAGE.read_text(encoding="utf-8")
    after = MARK.sub(lambda m: m[1] + writers[m[2]](m[3], arguments) + m[5], before)
    shown = sorted(m[3] for m in MARK.finditer(before) if m[2] == "session")
    kept = sorted(path.stem for path in (ROOT / BROKEN).glob("*.cu"))
    if shown != kept:
        sys.exit(f"sessions of the page: {shown}; programs in {BROKEN}: {kept}")
    if arguments.check:
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "docs/debugging.md", "as it is now"))
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
