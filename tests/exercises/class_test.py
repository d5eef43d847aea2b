#!/usr/bin/env python3
"""`warpgrind exercise` as learners and teachers call it: start, check, hint; a class in the sandbox, with hostile hand-ins.

  class_test.py WARPGRIND EXERCISES       exit code 77: no sandbox on this machine, what needs none has passed
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

WARPGRIND, EXERCISES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SKIPPED = 77


def exercise(*arguments, cwd):
    run = subprocess.run([WARPGRIND, "exercise", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, errors="replace",
                         timeout=600)
    return run.returncode, run.stdout, run.stderr


def expect(condition, what, run):
    if not condition:
        sys.exit(f"FAILED: {what}\nexit code {run[0]}\n{run[1]}\n{run[2]}")


def learner(folder):
    run = exercise("list", cwd=folder)
    expect(run[0] == 0 and "transpose_tile" in run[1], "the list", run)
    run = exercise("start", "vector_ad", cwd=folder)
    expect(run[0] == 2 and "did you mean vector_add" in run[2], "a name misspelt", run)
    run = exercise("start", "vector_add", cwd=folder)
    here = folder / "vector_add"
    expect(run[0] == 0 and (here / "text.md").exists(), "start", run)
    run = exercise("start", "vector_add", cwd=folder)
    expect(run[0] == 2 and "already exists" in run[2], "an answer is not overwritten", run)
    run = exercise("hint", cwd=here)
    expect(run[1].startswith("Hint 1 of 3"), "the first hint", run)
    run = exercise("hint", cwd=here)
    expect(run[1].startswith("Hint 2 of 3"), "the second hint", run)
    run = exercise("check", cwd=folder)
    expect(run[0] == 2 and "is not a folder that" in run[2], "check in a folder of no exercise", run)
    (here / "vector_add.cu").write_text("__global__ void add(const float* a, const float* b, float* c, int n) {\n  nonsense\n}\n")
    run = exercise("check", cwd=here)
    expect(run[0] == 1 and "vector_add.cu:2" in run[1] and "it does not compile" in run[1], "what does not compile", run)
    (here / "vector_add.cu").write_text("__global__ void add(const float* a, const float* b, float* c, int n) {\n  while (n) c[0] = n;\n}\n"
                                        "struct Ends { Ends() { __builtin_trap(); } } ends;\n")
    run = exercise("check", cwd=here)
    expect(run[0] == 1 and "ended the program early" in run[1], "what crashes", run)


HOSTILE = """#include <cstdio>
#include <cstdlib>
#include <unistd.h>
struct First { First() { %s } } first;
__global__ void add(const float* a, const float* b, float* c, int n) {}
"""


def teacher(folder):
    hand_ins = folder / "class"
    answers = {"ann/vector_add/vector_add.cu": (EXERCISES / "vector_add/solution.cu").read_text(),
               "bob/transpose_tile.cu": (EXERCISES / "transpose_tile/wrong/naive.cu").read_text(),
               "bob/nonsense.cu": "", "eve/vector_add.cu": HOSTILE % "for (;;) fork();",
               "gus/vector_add.cu": HOSTILE % 'for (;;) printf("\\xff\\x1b]0;owned\\n");',
               "fay/vector_add.cu": HOSTILE % f'FILE* f = fopen("{folder}/escaped", "w"); if (f) fclose(f); '
                                              f'printf("\\xff\\x1b]0;owned\\n"); abort();'}
    for name, text in answers.items():
        path = hand_ins / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.symlink("/etc/passwd", hand_ins / "eve/blur.cu")
    run = exercise("check", "--all", hand_ins, "--json", "v.json", "--junit", "v.xml", cwd=folder)
    if run[0] == 2 and "there is none" in run[2]:
        print(run[2])
        expect("--no-sandbox" in run[2], "what to do without a sandbox", run)
        return SKIPPED
    expect(run[0] == 1 and "1 of 7 hand-ins solved" in run[1], "the class", run)
    expect("\x1b" not in run[1], "a terminal's codes from a hand-in", run)
    expect(not (folder / "escaped").exists(), "a hand-in wrote outside of the box", run)
    verdicts = {(v["student"], v["exercise"]): v for v in json.loads((folder / "v.json").read_text())["hand_ins"]}
    expect(verdicts["ann", "vector_add"]["passed"], "the right answer", run)
    expect("links are not followed" in verdicts["eve", "blur"]["problem"], "the link", run)
    failed = [r for r in verdicts["bob", "transpose_tile"]["rubric"] if r["outcome"] == "failed"]
    expect(len(failed) == 1 and failed[0]["line"] == 4 and "lane" in failed[0]["details"], "the access is drawn", run)
    expect("it uses fork" in verdicts["eve", "vector_add"]["rubric"][0]["seen"], "the fork bomb", run)
    expect("it uses fopen" in verdicts["fay", "vector_add"]["rubric"][0]["seen"], "a file", run)
    expect("more than 1024 KiB of output" in verdicts["gus", "vector_add"]["rubric"][1]["seen"], "endless output", run)
    suites = tree.parse(folder / "v.xml").getroot().findall("testsuite")
    expect([s.get("name") for s in suites] == ["ann", "bob", "eve", "fay", "gus"], "the JUnit file", run)
    return 0


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        learner(folder)
        code = teacher(folder)
    print("skipped: no sandbox on this machine" if code else "passed")
    return code


if __name__ == "__main__":
    sys.exit(main())
