"""Kernels of Numba."""
import numpy as np
import pytest
from numba import cuda


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


@pytest.mark.skipif(not cuda.is_available(), reason="no GPU")
def test_double(warpgrind):
    values = np.arange(256, dtype=np.float32)
    double[2, 128](values)
    assert values[3] == 6
    assert warpgrind.kernels["double"].launches == 1
    assert warpgrind.kernels["double"].global_load_sectors_per_request == 4


@pytest.mark.skipif(not cuda.is_available(), reason="no GPU")
@pytest.mark.warpgrind(require_kernels="halve")
def test_wrong_kernel():  # fails
    double[2, 128](np.arange(256, dtype=np.float32))
