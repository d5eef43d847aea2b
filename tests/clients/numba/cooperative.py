# A group of the whole grid: what one block writes before sync(), another reads behind it. 1024 threads, 32 warps.
# want rotate: launches = 1
# want rotate: l1tex__t_requests_pipe_lsu_mem_global_op_st.sum = 64
# output 4 launches: True
import numpy as np
from numba import cuda


@cuda.jit
def rotate(a, b):
    i = cuda.grid(1)
    a[i] = 3 * i
    cuda.cg.this_grid().sync()
    b[i] = a[a.size - 1 - i]


@cuda.jit
def rounds(a, turns):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(turns):
        left = a[(i + a.size - 1) % a.size]
        grid.sync()
        a[i] = left + 1
        grid.sync()


a, b = np.zeros(1024, np.int32), np.zeros(1024, np.int32)
rotate[8, 128](a, b)
assert (b == 3 * np.arange(1024)[::-1]).all()

values = np.arange(256, dtype=np.int32)
d = cuda.to_device(values)
for _ in range(4):
    rounds[4, 64](d, 3)
got = d.copy_to_host()
print("4 launches:", bool((got == np.roll(values, 12) + 12).all()))
