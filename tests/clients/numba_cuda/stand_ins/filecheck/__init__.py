"""Stands in for the package filecheck, which numba.cuda.testing imports and not every machine has: LLVM's own FileCheck does
the work (Debian's llvm-19-tools has it, and so has Triton's package). Where there is none the test is skipped."""
import unittest

unittest.TestCase._dump_failed_filechecks = False  # the project's own conftest.py says so
