# Kernels in Python: cupyx.jit.
# want sums: launches = 1
# want sums: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum = 16
import numpy as np
import cupy as cp
from cupyx import jit


@jit.rawkernel()
def scale(x, y, n):
    tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    for i in range(tid, n, jit.gridDim.x * jit.blockDim.x):
        y[i] = x[i] * 2 if i % 2 == 0 else -x[i]


@jit.rawkernel()
def sums(x, out):
    part = jit.shared_memory(np.float32, 128)
    t = int(jit.threadIdx.x)
    part[t] = x[jit.blockIdx.x * 128 + t]
    jit.syncthreads()
    width = 64
    while width > 0:
        if t < width:
            part[t] = part[t] + part[t + width]
        jit.syncthreads()
        width = width // 2
    if t == 0:
        out[jit.blockIdx.x] = part[0]
        jit.atomic_add(out, 4, part[0])


@jit.rawkernel()
def lanes(out):
    value = jit.threadIdx.x * 10
    out[jit.threadIdx.x] = jit.shfl_xor_sync(0xffffffff, value, 1)


x = np.arange(1000, dtype=np.float32)
X, Y = cp.asarray(x), cp.zeros(1000, np.float32)
scale((4,), (64,), (X, Y, np.int32(1000)))
np.testing.assert_array_equal(Y.get(), np.where(np.arange(1000) % 2 == 0, 2 * x, -x))
out = cp.zeros(5, np.float32)
sums((4,), (128,), (X[:512], out))
want = x[:512].reshape(4, 128).sum(axis=1)
np.testing.assert_array_equal(out.get(), np.append(want, want.sum()))
shuffled = cp.zeros(32, np.int32)
lanes((1,), (32,), (shuffled,))
np.testing.assert_array_equal(shuffled.get(), (np.arange(32) ^ 1) * 10)
print("good")
