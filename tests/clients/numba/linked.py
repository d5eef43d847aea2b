# Device functions that are not Python: of PTX, and of CUDA C++ where this Numba compiles that (numba-cuda does).
# want combined: launches = 1
# output linked: True
import pathlib
import tempfile

import numpy as np
from numba import cuda

PTX = """.version 6.4
.target sm_52
.address_size 64
.visible .func (.param .b32 status) scaled(.param .b64 out, .param .b32 x, .param .b32 y)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [y];
  mul.lo.u32 %r3, %r1, %r2;
  st.u32 [%rd1], %r3;
  st.param.b32 [status], 0;
  ret;
}
"""
CUDA = """
__device__ int shared_by_all = 5;
extern "C" __device__ int shifted(int* out, int x) {
  *out = x + shared_by_all;
  return 0;
}
"""
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "scaled.ptx").write_text(PTX)
(folder / "shifted.cu").write_text(CUDA)
scaled = cuda.declare_device("scaled", "int32(int32, int32)")
in_cuda = hasattr(cuda, "CUSource")
shifted = cuda.declare_device("shifted", "int32(int32)")


@cuda.jit(device=True)
def plus_5(x):
    return x + 5


if in_cuda:
    files = [str(folder / "scaled.ptx"), str(folder / "shifted.cu")]
    shift = shifted
else:
    files = [str(folder / "scaled.ptx")]
    shift = plus_5


@cuda.jit(link=files)
def combined(x):
    i = cuda.grid(1)
    x[i] = shift(scaled(x[i], i))


x = np.arange(128, dtype=np.int32)
combined[2, 64](x)
print("linked:", bool((x == np.arange(128) ** 2 + 5).all()))
