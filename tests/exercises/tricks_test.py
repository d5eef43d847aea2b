#!/usr/bin/env python3
"""Hand-ins that try to deceive the judge: each is in tricks/, with the exercise and a part of the message that it must get.

  tricks_test.py WARPGRIND EXERCISES       exit code 77: no sandbox on this machine
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WARPGRIND, EXERCISES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
TRICKS = pathlib.Path(__file__).resolve().parent / "tricks"
SKIPPED = 77


def described(text, what):
    return next(line.split(what + ": ", 1)[1] for line in text.splitlines() if line.startswith(f"// {what}: "))


def hand_in(folder, trick):
    text = trick.read_text().replace("@EXERCISES@", str(EXERCISES))
    path = folder / trick.stem / (described(text, "exercise") + ".cu")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return described(text, "caught")


def check(folder, *arguments):
    run = subprocess.run([WARPGRIND, "exercise", "--exercises", EXERCISES, "check", *map(str, arguments)], cwd=folder, capture_output=True,
                         text=True, errors="replace", timeout=1400)
    return run.returncode, run.stdout + run.stderr


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        caught = {trick.stem: hand_in(folder / "class", trick) for trick in sorted(TRICKS.glob("*.cu"))}
        code, printed = check(folder, "--all", "class", "--json", "v.json", "--no-cache")
        if code == 2 and "there is none" in printed:
            print(printed)
            return SKIPPED
        if code != 1:
            sys.exit(f"FAILED: exit code {code}\n{printed}")
        for one in json.loads((folder / "v.json").read_text())["hand_ins"]:
            said = json.dumps(one, ensure_ascii=False).replace('\\"', '"')
            good = not one["passed"] and "problem" not in one and any(part in said for part in caught.pop(one["student"]).split("|"))
            failed += not good
            print(f"{'pass' if good else 'FAIL'}  {one['student']}")
            if not good:
                print(json.dumps(one, indent=1))
        # Without a sandbox the file is there, and the compiler's list of included files shows it.
        code, printed = check(folder, "class/includes_solution/vector_add.cu", "--no-cache")
        good = code == 1 and "it includes solution.cu of the exercises" in printed
        failed += not good
        print(f"{'pass' if good else 'FAIL'}  includes_solution, without a sandbox\n{'' if good else printed}")
    if failed or caught:
        sys.exit(f"FAILED: {failed} tricks were not caught as they should be; not judged: {sorted(caught)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
