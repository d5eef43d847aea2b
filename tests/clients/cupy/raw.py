# Kernels in CUDA C++: RawKernel, RawModule with templates, constant memory and structures, shared memory.
# want saxpy: launches = 1
# want saxpy: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum = 64
# want saxpy line if (i < n) y[i] = a * x[i] + y[i];: warpgrind__global_requests.sum = 96
import numpy as np
import cupy as cp

saxpy = cp.RawKernel(r"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
""", "saxpy", options=("-lineinfo",))
x = np.arange(1000, dtype=np.float32)
y = np.ones(1000, np.float32)
X, Y = cp.asarray(x), cp.asarray(y)
saxpy((8,), (128,), (np.float32(3), X, Y, np.int32(1000)))
np.testing.assert_array_equal(Y.get(), 3 * x + y)
assert saxpy.attributes["max_threads_per_block"] >= 256

module = cp.RawModule(code=r"""
#include <cupy/complex.cuh>
#include <cuda_fp16.h>

struct Pair { int first; double second; };
__constant__ float weights[4];
__device__ int counter;

template <typename T, int N> __global__ void dot(const T* x, const T* y, T* sums, int n) {
  __shared__ T part[N];
  T sum = 0;
  for (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N) sum += x[i] * y[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int width = N / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void use(Pair pair, double* out) {
  atomicAdd(&counter, 1);
  out[threadIdx.x] = weights[threadIdx.x % 4] * pair.second + pair.first;
}
__global__ void halves(const __half* x, __half* y) {
  y[threadIdx.x] = __hfma(x[threadIdx.x], x[threadIdx.x], __float2half(1.0f));
}
__global__ void turned(const complex<float>* z, complex<float>* out) {
  out[threadIdx.x] = z[threadIdx.x] * complex<float>(0, 1);
}
__global__ void dynamic(int* out, int n) {
  extern __shared__ int turned_round[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) turned_round[n - 1 - i] = i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = turned_round[i];
}
""", options=("-std=c++17",), name_expressions=("dot<float, 128>", "dot<int, 64>", "use", "halves", "turned", "dynamic"))
for name, dtype, size in (("dot<float, 128>", np.float32, 128), ("dot<int, 64>", np.int32, 64)):
    a = np.arange(1000).astype(dtype) % 11
    sums = cp.empty(4, dtype)
    module.get_function(name)((4,), (size,), (cp.asarray(a), cp.asarray(a), sums, np.int32(1000)))
    assert int(sums.sum()) == int((a * a).sum())

weights = cp.ndarray(4, np.float32, module.get_global("weights"))
weights[...] = cp.asarray([1, 2, 3, 4], np.float32)
pair = np.array([(5, 0.5)], np.dtype([("first", np.int32), ("second", np.float64)], align=True))
out = cp.empty(32, np.float64)
module.get_function("use")((1,), (32,), (pair[0], out))
np.testing.assert_array_equal(out.get(), np.tile([1, 2, 3, 4], 8) * 0.5 + 5)
assert int(cp.ndarray(1, np.int32, module.get_global("counter"))[0]) == 32

h = np.arange(16).astype(np.float16)
H = cp.empty(16, np.float16)
module.get_function("halves")((1,), (16,), (cp.asarray(h), H))
np.testing.assert_array_equal(H.get(), h * h + np.float16(1))
z = (np.arange(8) + 2j).astype(np.complex64)
Z = cp.empty_like(cp.asarray(z))
module.get_function("turned")((1,), (8,), (cp.asarray(z), Z))
np.testing.assert_array_equal(Z.get(), z * 1j)
dynamic = module.get_function("dynamic")
dynamic.max_dynamic_shared_size_bytes = 65536
big = cp.empty(16000, np.int32)
dynamic((1,), (256,), (big, np.int32(16000)), shared_mem=64000)
np.testing.assert_array_equal(big.get(), np.arange(16000)[::-1])

try:
    cp.RawKernel('extern "C" __global__ void wrong() { undeclared = 1; }', "wrong").compile()
except cp.cuda.compiler.CompileException as error:
    assert "undeclared" in str(error)
else:
    raise AssertionError("compiled")
print("good")
