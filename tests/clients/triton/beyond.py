# check
# finding oob-global-write beyond.py line tl.store(x + i, i)
import numpy as np
import triton
import triton.language as tl

import device


@triton.jit
def beyond(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, i)


device.start()
x = device.zeros(100, np.int32)
beyond[(1, )](x, N=128)
try:
    x.get()
except RuntimeError as error:
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error)
else:
    raise AssertionError("no error was seen")
