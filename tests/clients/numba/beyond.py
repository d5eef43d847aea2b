# check
# finding oob-global-write beyond.py line x[i] = i
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def beyond(x):
    i = cuda.grid(1)
    x[i] = i


x = cuda.to_device(np.zeros(100, np.float32))
beyond[1, 128](x)
try:
    cuda.synchronize()
except cuda.cudadrv.driver.CudaAPIError as error:
    assert error.code == 700
else:
    raise AssertionError("no error was seen")
