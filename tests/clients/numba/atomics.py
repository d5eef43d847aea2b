# want histogram: launches = 1
# want histogram: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum = 128
import numpy as np
from numba import cuda, int32


@cuda.jit
def histogram(values, bins):
    here = cuda.shared.array(16, int32)
    if cuda.threadIdx.x < 16:
        here[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    cuda.atomic.add(here, values[cuda.grid(1)], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        cuda.atomic.add(bins, cuda.threadIdx.x, here[cuda.threadIdx.x])


@cuda.jit
def extremes(values, out, turns):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, values[i])
    cuda.atomic.min(out, 1, values[i])
    cuda.atomic.add(out, 2, values[i])
    cuda.atomic.compare_and_swap(turns[0:1], 0, 7)
    cuda.atomic.inc(turns, 1, 99)
    cuda.atomic.xor(turns, 2, i)


random = np.random.default_rng(1)
values = random.integers(0, 16, 4096).astype(np.int32)
bins = np.zeros(16, np.int32)
histogram[16, 256](values, bins)
assert (bins == np.bincount(values, minlength=16)).all()

values = random.integers(-1000, 1000, 1024).astype(np.float64)
out = np.array([-np.inf, np.inf, 0])
turns = np.zeros(3, np.uint32)
extremes[4, 256](values, out, turns)
assert out.tolist() == [values.max(), values.min(), values.sum()]
assert turns.tolist() == [7, 1024 % 100, 0]
