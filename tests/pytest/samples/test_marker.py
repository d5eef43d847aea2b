"""Conditions of the marker."""
import gpu
import pytest


@pytest.mark.warpgrind(expect="copy: global_load_sectors_per_request <= 4", require_kernels="cop*")
def test_conditions_hold():
    gpu.run("copy")


@pytest.mark.warpgrind(expect=["launches <= 1", "global_load_sectors_per_request <= 4"])
def test_expectation_fails():  # fails
    gpu.run("strided")


@pytest.mark.warpgrind(require_kernels="copy")
def test_required_kernel_is_missing():  # fails
    gpu.run("strided")


@pytest.mark.warpgrind(gpu="h200")
def test_of_this_gpu():
    gpu.run("copy")


@pytest.mark.warpgrind(gpu="a100")
def test_of_another_gpu():  # skipped
    gpu.run("copy")


@pytest.mark.warpgrind()
def test_launches_nothing():  # passes; the summary names it
    pass


@pytest.mark.warpgrind(expect="tme > 0")
def test_wrong_condition():  # fails
    gpu.run("copy")
