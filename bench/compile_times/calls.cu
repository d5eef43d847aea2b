// Functions that are not inlined: a chain of four in loops, and eight of 200 unrolled steps each.
//   nvcc -std=c++17 -arch=sm_90 -ptx -o calls.ptx calls.cu      also with -G
template <int kDepth>
__device__ __noinline__ float link(float x, int k) {
  float y = x * (1.0f + kDepth) + static_cast<float>(k);
  for (int i = 0; i < 8; ++i) y = y * 0.5f + link<kDepth - 1>(y, k + i) * 0.25f;
  return y;
}
template <>
__device__ __noinline__ float link<0>(float x, int k) {
  return x + static_cast<float>(k);
}

__global__ void chain(float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = link<3>(out[i], i);
}

template <int kFactor>
__device__ __noinline__ int long_function(int x, const int* shared) {
  int result = x;
#pragma unroll
  for (int i = 0; i < 200; ++i) result = (result ^ (result << (i % 13 + 1))) + shared[(result + i) & 63] * kFactor;
  return result;
}

__global__ void many(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x & 63] = out[threadIdx.x];
  __syncthreads();
  int x = static_cast<int>(threadIdx.x);
  x = long_function<1>(x, shared);
  x = long_function<2>(x, shared);
  x = long_function<3>(x, shared);
  x = long_function<4>(x, shared);
  x = long_function<5>(x, shared);
  x = long_function<6>(x, shared);
  x = long_function<7>(x, shared);
  x = long_function<8>(x, shared);
  out[threadIdx.x] = x;
}
