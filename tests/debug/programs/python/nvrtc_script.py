# Kernels as CuPy and cuda.core compile them: the text is a part of this script and has no name. Some of its lines are made.
import ctypes
import sys

import driver

KERNEL = """extern "C" __global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0;
  float heavy = v * 3;
  out[i] = heavy + 1;
}"""
OPERATION = """
    float d = x - y;
    out[i] = d * d;
"""
MADE = """extern "C" __global__ void elementwise(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float x = in[i], y = i / %d;
    %s;
  }
}
"""

driver.start()
options = sys.argv[1:] or ["-arch=compute_80"]
x, y = driver.floats(range(64)), driver.floats([0] * 64)
for text, name in (KERNEL, b"scale"), (MADE % (2, OPERATION), b"elementwise"):
    driver.launch(driver.function(driver.compile_text(text, "", options, {}), name), 2, 32, x, y, ctypes.c_int(64))
    print(driver.read(y, 4))
