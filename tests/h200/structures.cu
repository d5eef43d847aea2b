// Microbenchmarks of structures of K words that each thread writes word by word, after different work, and of stores
// followed by loads. lab/results/h200/structures.csv has the counters of an H200, in the order of the launches.
#include <cuda_runtime.h>

#include "cases.h"

namespace {

__device__ std::size_t thread_number() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}

// Loads through L1, also of what the kernel has written.
__device__ float load(const float* p) {
  float v;
  asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}

template <int K>
__global__ void k_write(float* out) {
  const std::size_t i = thread_number();
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] = k;
}

template <int K>
__global__ void k_read_word(const float* p, float* out) {
  const std::size_t i = thread_number();
  const float v = p[i];
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] = v + k;
}

template <int K>
__global__ void k_read_all(const float* __restrict__ p, float* __restrict__ out) {
  const std::size_t i = thread_number();
  float v[K];
#pragma unroll
  for (int k = 0; k < K; ++k) v[k] = p[i * K + k];
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] = v[k] + 1;
}

template <int K>
__global__ void k_arithmetic(float* out, int rounds) {
  const std::size_t i = thread_number();
  float v = i;
  for (int r = 0; r < rounds; ++r) v = fmaf(v, .5F, 1.F);
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] = v + k;
}

// Threads store words and load those of another warp: side by side, or rows of their own.
__global__ void k_again(float* out, int words, int rows, int other) {
  float* const p = out + static_cast<std::size_t>(blockIdx.x) * blockDim.x * words;
  const auto at = [&](int t, int k) { return rows ? t * words + k : k * static_cast<int>(blockDim.x) + t; };
  for (int k = 0; k < words; ++k) p[at(threadIdx.x, k)] = k;
  __syncthreads();
  float s = 0;
  for (int k = 0; k < words; ++k) s += load(p + at(threadIdx.x ^ other, k));
  if (s == 12345.F) out[0] = s;
}

// One word of each sector is stored; the same or its neighbour is loaded.
__global__ void k_part(float* out, int words, int neighbour) {
  float* const p = out + static_cast<std::size_t>(blockIdx.x) * blockDim.x * words * 8;
  for (int k = 0; k < words; ++k) p[(k * blockDim.x + threadIdx.x) * 8] = k;
  __syncthreads();
  float s = 0;
  for (int k = 0; k < words; ++k) s += load(p + (k * blockDim.x + threadIdx.x) * 8 + neighbour);
  if (s == 12345.F) out[0] = s;
}

// Loads, then stores to other memory, then the same loads again.
__global__ void k_evict(float* out, int words, int stores) {
  float* const p = out + static_cast<std::size_t>(blockIdx.x) * blockDim.x * (words + stores);
  float s = 0;
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < words; ++k) s += load(p + k * blockDim.x + threadIdx.x);
    if (r == 0)
      for (int k = 0; k < stores; ++k) p[(words + k) * blockDim.x + threadIdx.x] = k;
    __syncthreads();
  }
  if (s == 12345.F) out[0] = s;
}

template <int K>
void structures(float* p, float* out) {
  for (const int threads : {1 << 17, 1 << 22}) {
    const int blocks = threads / 256;
    k_write<K><<<blocks, 256>>>(out);
    k_read_word<K><<<blocks, 256>>>(p, out);
    k_read_all<K><<<blocks, 256>>>(p, out);
    for (const int rounds : {10, 100, 1000}) k_arithmetic<K><<<blocks, 256>>>(out, rounds);
    CHECK(cudaDeviceSynchronize());
  }
}

}  // namespace

int main() {
  float *p = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&p, 512 << 20));
  CHECK(cudaMalloc(&out, 512 << 20));
  CHECK(cudaMemset(p, 0, 512 << 20));
  for (const int words : {1, 8, 32, 64, 128})
    for (const int rows : {0, 1})
      for (const int other : {0, 32}) k_again<<<132, 256>>>(out, words, rows, other);
  for (const int words : {1, 8, 32})
    for (const int neighbour : {0, 1}) k_part<<<132, 256>>>(out, words, neighbour);
  for (const int words : {32, 64, 128})
    for (const int stores : {0, 32, 128, 256}) k_evict<<<132, 256>>>(out, words, stores);
  CHECK(cudaDeviceSynchronize());
  structures<2>(p, out);
  structures<3>(p, out);
  structures<4>(p, out);
  structures<5>(p, out);
  structures<6>(p, out);
  structures<8>(p, out);
  structures<12>(p, out);
  structures<16>(p, out);
}
