# Kernels of Numba for python_test.py: with debug=True, and with lines only.
import warnings

import numpy as np
from numba import cuda

warnings.simplefilter("ignore")


@cuda.jit(device=True, debug=True, opt=False)
def weighed(value, factor):
    heavy = value * factor
    return heavy + 1


@cuda.jit(debug=True, opt=False)
def scale(x, y, factor):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = weighed(v, factor)


@cuda.jit(lineinfo=True)
def twice(x, y):
    i = cuda.grid(1)
    t = x[i]
    y[i] = t * 2


x = np.arange(64, dtype=np.float32)
y = np.zeros_like(x)
scale[2, 32](x, y, 3)
print(y[:4].tolist())
twice[2, 32](x, y)
print(y[:4].tolist())
