#!/usr/bin/env python3
"""Files for graders: a small class in all formats, and Gradescope's container layout with submissions that are no answers.

  graders_test.py WARPGRIND EXERCISES RUN_AUTOGRADER       exit code 77: no sandbox on this machine
"""
import csv
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WARPGRIND, EXERCISES, AUTOGRADER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
SKIPPED = 77
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def expect(condition, what, shown=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{shown}")


def check_gradescope(path):
    """The members and values that gradescope-autograders.readthedocs.io documents."""
    whole = json.loads(path.read_text())
    expect(set(whole) <= {"score", "execution_time", "output", "output_format", "test_output_format", "test_name_format", "visibility",
                          "stdout_visibility", "extra_data", "tests", "leaderboard"}, "unknown members", whole)
    expect(isinstance(whole["score"], (int, float)) and isinstance(whole["output"], str), "score and output", whole)
    expect(whole["visibility"] in VISIBILITIES and whole["stdout_visibility"] in VISIBILITIES and whole["output_format"] in FORMATS,
           "visibility", whole)
    for test in whole["tests"]:
        expect(set(test) <= {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags",
                             "visibility", "extra_data"}, "unknown members of a test", test)
        expect(0 <= test["score"] <= test["max_score"] and test["status"] in ("passed", "failed") and test["name"], "a test", test)
        expect(test["visibility"] in VISIBILITIES and test["output_format"] in FORMATS, "visibility of a test", test)
    if whole["tests"]:
        expect(sum(t["score"] for t in whole["tests"]) == whole["score"], "the sum", whole)
    return whole


def check_classroom50(path, student):
    """The rules of schemas/result-v1.schema.json in github.com/foundation50/classroom50 (6e593c7)."""
    whole = json.loads(path.read_text())
    required = {"schema", "classroom", "assignment", "assignment_type", "owner", "submission", "commit", "release", "review",
                "datetime", "score", "max-score", "tests"}
    expect(set(whole) == required, "members", whole)
    expect(whole["schema"] == "classroom50/result/v1" and whole["assignment_type"] in ("individual", "group"), "schema", whole)
    expect(whole["owner"] == student and whole["submission"].startswith("submit/"), "owner and submission", whole)
    expect(all(isinstance(whole[m], str) and whole[m] for m in required - {"score", "max-score", "tests"}), "texts", whole)
    expect(re.fullmatch(r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", whole["datetime"]), "time", whole)
    for one in [whole, *whole["tests"]]:
        expect(type(one["score"]) is int and type(one["max-score"]) is int and 0 <= one["score"] <= one["max-score"], "points", one)
    for test in whole["tests"]:
        expect(test["test-name"] and isinstance(test["passed"], bool), "a test", test)
    return whole


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        expect(not {"src", "href"} & {name for name, _ in attributes}, "the page needs another file", attributes)

    def handle_endtag(self, tag):
        expect(self.open and self.open.pop() == tag, f"</{tag}> closes another element")


def the_class(folder):
    solution = (EXERCISES / "transpose_tile/solution.cu").read_text()
    files = {"ann/transpose_tile.cu": solution, "bob/transpose_tile.cu": (EXERCISES / "transpose_tile/wrong/naive.cu").read_text(),
             "eve/transpose-tile.cu": solution}
    for name, text in files.items():
        path = folder / "class" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "class/zoe").mkdir()
    run = subprocess.run([WARPGRIND, "exercise", "--exercises", EXERCISES, "check", "--all", "class", "--assigned", "transpose_tile", "--csv",
                          "class.csv", "--html", "class.html", "--gradescope", "gradescope", "--classroom50", "classroom50"],
                         cwd=folder, capture_output=True, text=True, timeout=600)
    if run.returncode == 2 and "there is none" in run.stderr:
        return SKIPPED
    expect(run.returncode == 1, "exit code", run.stdout + run.stderr)
    rows = list(csv.reader((folder / "class.csv").read_text().splitlines()))
    expect(rows == [["student", "points", "most", "transpose_tile"], ["ann", "5", "5", "5"], ["bob", "4", "5", "4"],
                    ["eve", "0", "5", ""], ["zoe", "0", "5", ""]], "the table", rows)
    ann, eve = (check_gradescope(folder / "gradescope" / student / "results.json") for student in ("ann", "eve"))
    expect(ann["score"] == 5 and len(ann["tests"]) == 5, "the points of ann", ann)
    expect(any("did you mean transpose_tile" in t["output"] for t in eve["tests"]), "help with a wrong name", eve)
    bob = check_classroom50(folder / "classroom50/bob/result.json", "bob")
    expect(bob["score"] == 4 and any("lane" in t["output"] for t in bob["tests"]), "the drawing for bob", bob)
    text = (folder / "class.html").read_text()
    page = Page(text)
    expect(not page.open and page.tags.count("svg") == 1, "one mistake, drawn", page.open)
    expect("not handed in" in text and "1 student</span>" in text, "the page", text)
    return 0


def autograder(folder, name, files, expected):
    """Runs run_autograder as Gradescope's container does."""
    root = folder / name
    for path, text in files.items():
        path = root / "submission" / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (root / "submission").mkdir(parents=True, exist_ok=True)
    (root / "source").mkdir()
    (root / "source/assigned").write_text("vector_add\n")
    # The exercise's limit is 30 s; 3 s are enough for a loop that never ends.
    wrapper = root / "warpgrind"
    wrapper.write_text(f'#!/bin/sh\nshift\nexec "{WARPGRIND}" exercise --exercises "{folder}/exercises" "$@"\n')
    wrapper.chmod(0o755)
    run = subprocess.run([AUTOGRADER], env={**os.environ, "AUTOGRADER": str(root), "WARPGRIND": str(wrapper)}, capture_output=True,
                         text=True, timeout=600)
    expect(run.returncode == 0, f"{name}: exit code", run.stdout + run.stderr)
    whole = check_gradescope(root / "results/results.json")
    said = json.dumps(whole, ensure_ascii=False)
    expect(expected in said, f"{name}: {expected}", json.dumps(whole, indent=1))
    return whole


def gradescope(folder):
    (folder / "exercises").mkdir()
    shutil.copytree(EXERCISES / "include", folder / "exercises/include")
    shutil.copytree(EXERCISES / "vector_add", folder / "exercises/vector_add")
    description = folder / "exercises/vector_add/exercise.json"
    description.write_text(json.dumps({**json.loads(description.read_text()), "seconds": 10}))
    solution = (EXERCISES / "vector_add/solution.cu").read_text()
    right = autograder(folder, "right", {"vector_add.cu": solution}, "1 of 1 exercise solved")
    expect(right["score"] == 5, "all points", right)
    for name, files, expected in [
            ("nothing", {}, "There is no file vector_add.cu"),
            ("wrong_name", {"Vector_add.cu": solution, "my notes.txt": "x"}, "did you mean vector_add"),
            ("in_a_folder", {"my project/vector_add.cu": solution}, "1 of 1 exercise solved"),
            ("does_not_compile", {"vector_add.cu": "__global__ void add(\n"}, "it does not compile"),
            ("no_text", {"vector_add.cu": bytes(range(256))}, "it does not compile"),
            ("endless", {"vector_add.cu": solution.replace("if (i < n)", "while (i < n)")}, "a loop that never ends")]:
        wrong = autograder(folder, name, files, expected)
        expect(name == "in_a_folder" or wrong["score"] == 0 or name == "endless", f"{name}: points", wrong)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code = the_class(folder)
        gradescope(folder)
    print("skipped: no sandbox on this machine" if code else "passed")
    return code


if __name__ == "__main__":
    sys.exit(main())
