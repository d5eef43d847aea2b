# want add: launches = 1
# want add: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum = 64
# want add: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum = 125
# want add: warpgrind__flop_fp32.sum = 1000
import numpy as np
from numba import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


a = np.arange(1000, dtype=np.float32)
c = np.zeros_like(a)
add[8, 128](a, 2 * a, c)
assert (c == 3 * a).all()
