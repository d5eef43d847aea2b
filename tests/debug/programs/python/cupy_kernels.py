# Kernels of CuPy for python_test.py: a text, a template, an operation on elements.
import cupy as cp

scale = cp.RawKernel(r'''
extern "C" __global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float heavy = i < n ? in[i] * 3 : 0;
  if (i < n) out[i] = heavy + 1;
}
''', 'scale')

module = cp.RawModule(code=r'''
template <class T> __device__ T twice(T v) {
  T sum = v + v;
  return sum;
}
template <class T> __global__ void doubled(const T* in, T* out) {
  out[threadIdx.x] = twice(in[threadIdx.x]);
}
''', options=('-std=c++17',), name_expressions=['doubled<float>'])

squared = cp.ElementwiseKernel('T x, T y', 'T z', '''
  T difference = x - y;
  z = difference * difference;
''', 'squared')

x = cp.arange(64, dtype=cp.float32)
y = cp.zeros(64, dtype=cp.float32)
scale((2,), (32,), (x, y, cp.int32(64)))
print(y[:4].tolist())
module.get_function('doubled<float>')((1,), (64,), (x, y))
print(y[:4].tolist())
print(squared(x, y)[:4].tolist())
