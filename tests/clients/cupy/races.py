# check
# finding race-shared * line y[i] = part[(threadIdx.x + 32) % 128];
# finding oob-global-write * line y[i + n] = 0;
import numpy as np
import cupy as cp

cp.cuda.set_allocator(None)  # a pool's blocks are larger than what was asked for
module = cp.RawModule(code=r"""
extern "C" __global__ void turned(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float part[128];
  part[threadIdx.x] = i;
  y[i] = part[(threadIdx.x + 32) % 128];
}
extern "C" __global__ void beyond(float* y, int n) {
  int i = threadIdx.x;
  y[i + n] = 0;
}
""", options=("-lineinfo",))
y = cp.zeros(1000, np.float32)
module.get_function("turned")((7,), (128,), (y,))
module.get_function("beyond")((1,), (32,), (y, np.int32(1000)))
try:
    cp.cuda.Device().synchronize()
except cp.cuda.runtime.CUDARuntimeError as error:
    assert error.status == 700
else:
    raise AssertionError("no error was seen")
