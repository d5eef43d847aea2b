#!/usr/bin/env python3
"""Test of the races that `warpgrind check` finds between accesses of the host and queued work. The checks must not change the
results of the program. Use: host_accesses_test.py --build DIR."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402

SOURCE = pathlib.Path(__file__).with_name("host_accesses.cu")
RIGHT = {"flag": 448, "flag_fence_each": 448, "flag_last_block": 7168, "asks_kernel": 6, "progress": 320, "event": 12288, "query": 12288,
         "host_function": 0, "other_half": 2048, "other_bytes": 9, "both_read": 16384, "reads_file": None, "registered": 3072,
         "memset": 0x01010101, "pageable": 1, "thread": 12288}
WRONG = {"library_function": ("race-host", "read"), "system_call": ("race-host", "read"), "reads_file_into_source": ("race-host", "write"),
         "other_stream": ("race-managed", "read"), "variable": ("race-managed", "read"), "registered_source": ("race-host", "write"),
         "kernel_reads": ("race-managed", "write"), "graph": ("race-managed", "read"), "after_flag": ("race-managed", "read")}

# What is not found in programs that clang compiled (docs/checks.md): their __managed__ variables lie among other data.
NOT_BY_CLANG = {"variable"}


def line_with(text):
    return [text in line for line in SOURCE.read_text().splitlines()].index(True) + 1


class HostAccesses(unittest.TestCase):
    build = None

    def check(self, name):
        """(exit code, what the program prints, findings) of a run."""
        program = self.build / "tests/check/host_accesses"
        with tempfile.TemporaryDirectory(prefix="warpgrind-test-") as folder:
            path = pathlib.Path(folder) / "found.json"
            command = [self.build / "bin/warpgrind", "check", "--only", "races", "--json", path, program, name]
            environment = whole_run.environment(XDG_CACHE_HOME=str(self.build / "test-cache"))
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
            self.assertIsNone(whole_run.sanitizer_report(done.stderr))
            self.assertTrue(path.exists(), f"{name}: exit code {done.returncode}\n{done.stderr}")
            return done.returncode, done.stdout, json.loads(path.read_text())["findings"]

    def test_right_programs_are_silent(self):
        for name, result in RIGHT.items():
            with self.subTest(name):
                code, printed, findings = self.check(name)
                self.assertEqual((code, findings), (0, []))
                if result is not None:
                    self.assertEqual(printed.split()[0], str(result))

    def test_races_are_found(self):
        for name, (kind, access) in WRONG.items():
            with self.subTest(name):
                code, _, findings = self.check(name)
                if name in NOT_BY_CLANG and whole_run.compilers(self.build)[0] == "clang":
                    self.assertEqual((code, findings), (0, []))
                    continue
                self.assertEqual((code, [f["kind"] for f in findings]), (1, [kind]))
                host = findings[0]["accesses"][1]
                self.assertEqual((host["access"], host["line"]), (access, line_with("// here " + name)))

    def test_an_array_is_one_finding(self):
        code, _, findings = self.check("whole_array")
        self.assertEqual((code, [f["kind"] for f in findings]), (1, ["race-managed"]))
        self.assertEqual(findings[0]["accesses"][1]["line"], line_with("s += p[i]"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    HostAccesses.build = arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
