"""Kernels of child processes belong to the test that started them."""
import pathlib
import subprocess
import sys

import gpu
import pytest

FOLDER = pathlib.Path(__file__).parent


def in_child(kernel, threads=64):
    subprocess.run([sys.executable, "-c", f"import gpu; gpu.run('{kernel}', threads={threads})"], cwd=FOLDER, check=True)


@pytest.mark.warpgrind(require_kernels=["copy", "strided"])
def test_child(warpgrind):
    in_child("strided")
    gpu.run("copy")
    assert warpgrind.launched == {"copy": 1, "strided": 1}


def test_no_child(warpgrind):
    gpu.run("copy")
    assert warpgrind.launched == {"copy": 1}


def test_race_in_child():  # fails with --warpgrind-check
    in_child("race", threads=128)
