#!/usr/bin/env python3
"""hashcat on the virtual GPU: each hash mode's self-test, and its example hash found by a list of one word; a mask attack too.

  modes.py WARPGRIND [--modes 0 1400 ...] [--seconds 300]      or --list

Prints a line a mode and, at the end, how many failed. Exit code 1: one failed; 77: there is no hashcat.
"""
import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

# What people most often bring (hashcat's own list of popular modes), slow ones left out: a kernel of thousands of rounds
# is a matter of minutes here.
MODES = [0, 10, 20, 100, 110, 120, 300, 900, 1000, 1100, 1300, 1400, 1410, 1420, 1450, 1700, 1710, 1720, 2600, 3000, 3710, 4300,
         4500, 5100, 5600, 6000, 10800, 11500, 17400, 17600]
MASKS = {0: "md5", 1400: "sha256"}
# No search for the best work size (-n, -u, -T), no results kept, no questions. The first device is ours; PoCL may be another.
OPTIONS = ["-d", "1", "-n", "1", "-u", "1", "-T", "32", "--potfile-disable", "--force", "--quiet"]


def info(mode):
    """(name, example hash, its password); None: hashcat does not know the mode or gives none."""
    said = subprocess.run(["hashcat", "-m", str(mode), "--hash-info"], capture_output=True, text=True).stdout
    field = lambda name: re.search(rf"^\s*{name}\.*: (.*)$", said, re.M)
    found = [field(name) for name in ("Name", "Example.Hash", "Example.Pass")]
    return [f.group(1) for f in found] if all(found) else None


def attack(warpgrind, mode, target, guess, seconds, folder):
    """guess: words or a mask. Seconds that it took; None: not found, and why."""
    kind = "3" if guess.startswith("?") else "0"
    command = [warpgrind, "run", "--quiet", "--no-counters", "hashcat", "-m", str(mode), *OPTIONS, "--session", f"warpgrind{mode}",
               "-a", kind, target, guess]
    begin = time.monotonic()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=folder,
                             stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, f"not done after {seconds} s"
    if run.returncode == 0 and ":" in run.stdout:
        return time.monotonic() - begin, ""
    lines = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
    return None, "; ".join(lines[-3:]) or f"exit code {run.returncode}"


def report_result(what, result):
    took, why = result
    print(f"FAILED {what}: {why}" if took is None else f"passed {what}: {took:.0f} s", flush=True)
    return took is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpgrind", nargs="?")
    parser.add_argument("--list", action="store_true", help="the modes that are tried")
    parser.add_argument("--modes", type=int, nargs="*", default=MODES)
    parser.add_argument("--seconds", type=float, default=300)
    args = parser.parse_args()
    if args.list:
        print(*MODES)
        return 0
    if not args.warpgrind:
        parser.error("which warpgrind?")
    if not shutil.which("hashcat"):
        print("skipped: hashcat is not installed (apt-get install hashcat)")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        words = pathlib.Path(folder) / "words"
        for mode in args.modes:
            known = info(mode)
            if known is None:
                print(f"FAILED {mode}: hashcat has no example of it")
                failed += 1
                continue
            name, target, password = known
            words.write_text(password + "\n")
            failed += report_result(f"{mode} {name}", attack(args.warpgrind, mode, target, str(words), args.seconds, folder))
        for mode, algorithm in MASKS.items():
            if mode in args.modes:
                target = hashlib.new(algorithm, b"abc").hexdigest()
                failed += report_result(f"{mode} {algorithm} by the mask ?l?l?l",
                               attack(args.warpgrind, mode, target, "?l?l?l", args.seconds, folder))
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
