# want add: launches = 2
# output add: equal
import numpy as np
import triton
import triton.language as tl

import device


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(z + i, a + b, mask=inside)


device.start()
for n in (98432, 1000):
    random = np.random.default_rng(n)
    x, y = (random.random(n, np.float32) for _ in range(2))
    z = device.zeros(n, np.float32)
    add[(triton.cdiv(n, 1024), )](device.Array(x), device.Array(y), z, n, BLOCK=1024)
    assert (z.get() == x + y).all()
print("add: equal")
