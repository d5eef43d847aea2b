# A kernel that exists only as a text, with a header that does, too: nvrtc_text.py [OPTION...]
import ctypes
import sys

import driver

HEADER = """__device__ float weighed(float value, float factor) {
  float heavy = value * factor;
  return heavy + 1;
}
"""
KERNEL = """#include "weigh.h"
extern "C" __global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0;
  out[i] = weighed(v, 3);
}
"""

driver.start()
code = driver.compile_text(KERNEL, "kernels/scale.cu", sys.argv[1:] or ["-arch=compute_80"], {"weigh.h": HEADER})
kernel = driver.function(code, b"scale")
x, y = driver.floats(range(64)), driver.floats([0] * 64)
driver.launch(kernel, 2, 32, x, y, ctypes.c_int(64))
print(driver.read(y, 4))
