# Device functions, the device math library, warp functions, local and constant memory, printing, ufuncs.
# want math_of: launches = 1
# output 3 times 2 is 6.500000
import math

import numpy as np
from numba import cuda, float32, vectorize

TABLE = np.arange(32, dtype=np.int32) ** 2


@cuda.jit(device=True)
def norm(a, b):
    return math.sqrt(a * a + b * b)


@cuda.jit
def math_of(x, y):
    i = cuda.grid(1)
    y[i, 0] = math.sin(x[i])
    y[i, 1] = math.exp(x[i]) + math.log(x[i] + 1)
    y[i, 2] = norm(x[i], 2 * x[i])
    y[i, 3] = math.erf(x[i]) + x[i] ** 1.5


@cuda.jit
def warps(out):
    lane = cuda.laneid
    table = cuda.const.array_like(TABLE)
    own = cuda.local.array(4, float32)
    for k in range(4):
        own[k] = table[(lane + k) % 32]
    out[0, lane] = cuda.shfl_down_sync(0xFFFFFFFF, lane, 4)
    out[1, lane] = cuda.ballot_sync(0xFFFFFFFF, lane % 2 == 0) & 0xFFFF
    out[2, lane] = cuda.popc(lane)
    out[3, lane] = cuda.all_sync(0xFFFFFFFF, lane < 32) + cuda.any_sync(0xFFFFFFFF, lane > 40)
    out[4, lane] = own[lane % 4]
    out[5, lane] = cuda.shfl_xor_sync(0xFFFFFFFF, lane, 1)


@cuda.jit
def say(n):
    print(n, "times", 2, "is", n * 2.0 + 0.5)


@vectorize(["float32(float32, float32)"], target="cuda")
def sum_of_squares(a, b):
    return a * a + b * b


x = np.linspace(0.1, 3, 128)
y = np.zeros((128, 4))
math_of[2, 64](x, y)
want = [np.sin(x), np.exp(x) + np.log(x + 1), x * np.sqrt(5), [math.erf(v) for v in x] + x**1.5]
assert np.allclose(y, np.stack(want, axis=1), rtol=1e-14, atol=0)

out = np.zeros((6, 32), np.int32)
warps[1, 32](out)
lane = np.arange(32)
want = [np.where(lane < 28, lane + 4, lane), np.full(32, 0x5555), [bin(v).count("1") for v in lane], np.ones(32),
        TABLE[(lane + lane % 4) % 32], lane ^ 1]
assert (out == np.stack(want)).all()

say[1, 1](3)
cuda.synchronize()
a = np.arange(100, dtype=np.float32)
assert (sum_of_squares(a, a) == 2 * a * a).all()
