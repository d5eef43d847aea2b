#!/usr/bin/env python3
"""Test of check_cases.py: it accepts right results and rejects wrong ones."""
import pathlib
import tempfile
import unittest

import check_cases
import expectations

SOURCE = """
__global__ void bug(int* a) {
  a[1] = 2;  //! C900 ERROR race-shared thread=1,0,0 access=write
  //! C900 ERROR race-shared access=read count=3 message~"no barrier"
  a[2] = a[1];
  a[3] = 4;  //! C900 any
}
CASE(C900, "a bug") {
  cudaMalloc(&a, 4);  //! C900 origin
}  //! C900 may WARNING race-warp
//! C901 at-most INFO race-same-value
CASE(C901, "a trap") {  // trap_of_a_kind
}
"""
WRITE, READ, ANY, MALLOC = 3, 5, 6, 9


def access(line, what, thread):
    return {"file": "/somewhere/area.cu", "line": line, "access": what, "thread": thread, "block": [0, 0, 0]}


def race(**changes):
    finding = {"kind": "race-shared", "severity": "ERROR", "message": "No barrier between them", "count": 3,
               "accesses": [access(WRITE, "write", [1, 0, 0]), access(READ, "read", [0, 0, 0])],
               "origin": {"file": "area.cu", "line": MALLOC}}
    return {**finding, **changes}


class DriverTest(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "area.cu"
            path.write_text(SOURCE)
            self.cases = expectations.read_area(path)

    def problems(self, *findings, case="C900"):
        return check_cases.compare(list(findings), self.cases[case])

    def expect_one(self, word, *findings, case="C900"):
        problems = self.problems(*findings, case=case)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(word, problems[0])

    def test_right(self):
        self.assertEqual(self.problems(race()), [])
        warp = race(kind="race-warp", severity="WARNING", accesses=[])
        other_pair = race(accesses=[access(WRITE, "write", [2, 0, 0]), access(ANY, "write", [0, 0, 0])])
        self.assertEqual(self.problems(race(), warp, other_pair), [])

    def test_nothing_found(self):
        self.expect_one("no finding ERROR race-shared")

    def test_details(self):
        self.expect_one("severity", race(severity="INFO"))
        self.expect_one("count", race(count=2))
        self.expect_one("origin", race(origin=None))
        self.expect_one("no barrier", race(message="Something else"))
        write, read = access(WRITE, "write", [1, 0, 0]), access(READ, "read", [0, 0, 0])
        self.expect_one(f"line {READ}", race(accesses=[write]))
        self.expect_one("thread=[1, 0, 0]", race(accesses=[access(WRITE, "write", [2, 0, 0]), read]))
        self.expect_one("access=read", race(accesses=[write, access(READ, "write", [0, 0, 0])]))

    def test_strange(self):
        elsewhere = race(accesses=[access(WRITE, "write", [1, 0, 0]), access(MALLOC + 1, "read", [0, 0, 0])])
        self.expect_one("not expected", race(), elsewhere)
        self.expect_one("not expected", race(), race(kind="leak-device", severity="WARNING"))
        self.expect_one("not expected", race(), race(kind="race-warp"))  # may be a WARNING
        self.expect_one("twice", race(), race())

    def test_inlined(self):
        header = {"file": "header.h", "line": 1, "access": "write", "thread": [1, 0, 0],
                  "inlined_at": [{"file": "area.cu", "line": WRITE}]}
        self.assertEqual(self.problems(race(accesses=[header, access(READ, "read", [0, 0, 0])])), [])

    def test_trap(self):
        self.assertEqual(self.problems(case="C901"), [])
        self.assertEqual(self.problems(race(kind="race-same-value", severity="INFO"), case="C901"), [])
        self.expect_one("not expected", race(kind="race-same-value"), case="C901")
        self.assertEqual(self.cases["C901"].name, "trap_of_a_kind")

    def test_wrong_comment(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "area.cu"
            for comment in ("C900 ERROR", "C900 ERRORS race", "C900 ERROR race count~2", "C999 any", "C901 ERROR race"):
                path.write_text(SOURCE + "//! " + comment + "\nint x;\n")
                with self.assertRaises((SystemExit, AssertionError, IndexError), msg=comment):
                    expectations.read_area(path)


if __name__ == "__main__":
    unittest.main()
