# A row by each program, forward; backward, sums of all rows that blocks add up behind locks (atomic exchange, compare and swap).
# want forward: launches = 1
# want backward: launches = 1
# output layer_norm: forward agrees, sums behind locks are equal
import numpy as np
import triton
import triton.language as tl

import device


@triton.jit
def forward(x, y, weight, bias, means, scales, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    sum = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        sum += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sum, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        off = tl.where(at < columns, tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32) - mean, 0.0)
        squares += off * off
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        value = (tl.load(x + at, mask=inside).to(tl.float32) - mean) * scale
        tl.store(y + at, value * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside), mask=inside)


@triton.jit
def backward(x, sums, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    group = row % GROUPS
    at = tl.arange(0, BLOCK)
    inside = at < columns
    part = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    before = tl.load(locks + GROUPS + group)
    tl.debug_barrier()  # all warps have read it
    if before == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        part += tl.load(sums + group * columns + at, mask=inside)
    tl.store(sums + group * columns + at, part, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


device.start()
ROWS, COLUMNS, GROUPS = 151, 1000, 16
random = np.random.default_rng(0)
x = (-2.3 + 0.5 * random.standard_normal((ROWS, COLUMNS))).astype(np.float16)
weight, bias = (random.random(COLUMNS).astype(np.float16) for _ in range(2))
y, means, scales = device.zeros(x.shape, np.float16), device.zeros(ROWS, np.float32), device.zeros(ROWS, np.float32)
forward[(ROWS, )](device.Array(x), y, device.Array(weight), device.Array(bias), means, scales, COLUMNS, COLUMNS, 1e-5, BLOCK=256,
                  num_warps=2)
wide = x.astype(np.float64)
exact_mean, exact_scale = wide.mean(axis=1), 1 / np.sqrt(wide.var(axis=1) + 1e-5)
assert np.allclose(means.get(), exact_mean, rtol=1e-5)
assert np.allclose(scales.get(), exact_scale, rtol=1e-5)
exact = (wide - exact_mean[:, None]) * exact_scale[:, None] * weight + bias
assert np.allclose(y.get(), exact, atol=4e-3, rtol=2e-3)

# Whole numbers: equal whichever block comes first.
values = random.integers(-8, 9, (ROWS, COLUMNS))
sums = device.zeros((GROUPS, COLUMNS), np.float32)
backward[(ROWS, )](device.Array(values.astype(np.float16)), sums, device.zeros(2 * GROUPS, np.int32), COLUMNS, GROUPS=GROUPS,
                   BLOCK=1024)
assert (sums.get() == [values[group::GROUPS].sum(axis=0) for group in range(GROUPS)]).all()
print("layer_norm: forward agrees, sums behind locks are equal")
