# Counts by the lines that Numba gives. 1024 threads, of which every second one works: 4 sectors a warp all the same.
# want scale line v = x[i]: warpgrind__global_requests.sum = 32
# want scale line y[i] = v * 2: warpgrind__sectors.sum = 128
# want scale line if i % 2 == 0: warpgrind__divergent_branches.sum = 32
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def scale(x, y):
    i = cuda.grid(1)
    if i % 2 == 0:
        v = x[i]
        y[i] = v * 2


x = np.arange(1024, dtype=np.float32)
y = np.zeros_like(x)
scale[8, 128](x, y)
assert (y[::2] == 2 * x[::2]).all() and not y[1::2].any()
