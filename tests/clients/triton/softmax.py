# Rows of a matrix, each by one program or by several, with the loads of the next row under way: reductions, exp, a loop.
# want softmax: launches = 2
# output softmax: sums and values agree
import numpy as np
import triton
import triton.language as tl

import device


@triton.jit
def softmax(x, y, x_stride, y_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        column = tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + row * x_stride + column, mask=inside, other=-float("inf"))
        value = tl.exp(value - tl.max(value, axis=0))
        tl.store(y + row * y_stride + column, value / tl.sum(value, axis=0), mask=inside)


device.start()
random = np.random.default_rng(0)
for rows, columns, programs, warps in ((513, 781, 108, 8), (64, 100, 64, 1)):
    x = random.standard_normal((rows, columns)).astype(np.float32)
    y = device.zeros(x.shape, np.float32)
    softmax[(programs, )](device.Array(x), y, columns, columns, rows, columns, BLOCK=triton.next_power_of_2(columns), STAGES=2,
                          num_warps=warps)
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.allclose(y.get(), exact, rtol=1e-5, atol=1e-8)
    assert np.allclose(y.get().sum(axis=1), 1, rtol=1e-5)
print("softmax: sums and values agree")
