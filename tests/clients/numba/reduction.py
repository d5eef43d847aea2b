# 8 blocks of 256: one store of each warp, then half as many threads at each step. Bank conflicts: none.
# want block_sums: launches = 1
# want block_sums: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum = 64
# want block_sums: warpgrind__flop_fp64.sum = 2040
import numpy as np
from numba import cuda, float64


@cuda.jit
def block_sums(values, sums):
    part = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    part[t] = values[cuda.grid(1)]
    cuda.syncthreads()
    width = 128
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.reduce
def total(a, b):
    return a + b


values = np.arange(2048, dtype=np.float64)
sums = np.zeros(8)
block_sums[8, 256](values, sums)
assert (sums == values.reshape(8, 256).sum(axis=1)).all()
assert total(np.arange(1234)) == 1234 * 1233 // 2
