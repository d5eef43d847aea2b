// libcu++: atomics with a scope on plain memory (cuda::atomic_ref) and as objects, their orders, and fences.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "check.h"

__global__ void histogram(const unsigned char* in, int n, unsigned int* bins) {
  __shared__ unsigned int part[16];
  if (threadIdx.x < 16) part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    cuda::atomic_ref<unsigned int, cuda::thread_scope_block> bin(part[in[i] % 16]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    cuda::atomic_ref<unsigned int, cuda::thread_scope_device> bin(bins[threadIdx.x]);
    bin.fetch_add(part[threadIdx.x], cuda::std::memory_order_relaxed);
  }
}

struct Extremes {
  int least, most;
  unsigned long long sum;
  unsigned int bits;
};
__global__ void extremes(const unsigned char* in, int n, Extremes* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::atomic_ref<int, cuda::thread_scope_device>(out->least).fetch_min(in[i] - 100);
  cuda::atomic_ref<int, cuda::thread_scope_device>(out->most).fetch_max(in[i] - 100);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(out->sum).fetch_add(in[i]);
  cuda::atomic_ref<unsigned int, cuda::thread_scope_device>(out->bits).fetch_or(1u << in[i] % 32);
}

// Block 0 hands a value to all others by a flag: stored with release, read with acquire.
__global__ void hand_over(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *value = 42;
      ready.store(1, cuda::memory_order_release);
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    seen[blockIdx.x] = *value;
  }
}

// A stack of numbers by compare and exchange, and an atomic of which one is the last.
__device__ cuda::atomic<int, cuda::thread_scope_device> top{-1};
__device__ cuda::std::atomic<unsigned int> arrived{0};
__global__ void push(int* below, int* last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int old = top.load(cuda::memory_order_relaxed);
  do below[i] = old;
  while (!top.compare_exchange_weak(old, i, cuda::memory_order_release, cuda::memory_order_relaxed));
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  if (arrived.fetch_add(1) == gridDim.x * blockDim.x - 1) *last = top.exchange(-2);
}

int main() {
  const int n = 10000;
  unsigned char host[n], *in;
  unsigned int state = 5, wanted[16] = {}, *bins, got[16];
  unsigned long long sum = 0;
  int least = 1000, most = -1000;
  for (unsigned char& v : host) {
    v = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    wanted[v % 16]++;
    sum += v;
    least = v - 100 < least ? v - 100 : least;
    most = v - 100 > most ? v - 100 : most;
  }
  CHECK(cudaMalloc(&in, n));
  CHECK(cudaMalloc(&bins, sizeof wanted));
  CHECK(cudaMemcpy(in, host, n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(bins, 0, sizeof wanted));
  histogram<<<6, 128>>>(in, n, bins);
  CHECK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; i++) expect_equal("bin", i, got[i], wanted[i]);

  Extremes* result;
  CHECK(cudaMallocManaged(&result, sizeof *result));
  *result = {1000, -1000, 0, 0};
  extremes<<<(n + 127) / 128, 128>>>(in, n, result);
  CHECK(cudaDeviceSynchronize());
  expect_equal("fetch_min", 0, result->least, least);
  expect_equal("fetch_max", 0, result->most, most);
  expect_equal("fetch_add", 0, double(result->sum), double(sum));
  expect_equal("fetch_or", 0, result->bits, 0xffffffffu);
  cuda::atomic_ref<int, cuda::thread_scope_system> from_host(result->least);
  expect_equal("on the host", 0, from_host.fetch_add(5), least);
  expect_equal("on the host, after", 0, from_host.load(), least + 5);

  int* words;
  CHECK(cudaMallocManaged(&words, 1024 * sizeof(int)));
  for (int i = 0; i < 1024; i++) words[i] = 0;
  hand_over<<<8, 32>>>(&words[0], &words[1], &words[2]);
  CHECK(cudaDeviceSynchronize());
  for (int b = 1; b < 8; b++) expect_equal("handed over", b, words[2 + b], 42);

  push<<<4, 64>>>(words, &words[1000]);
  CHECK(cudaDeviceSynchronize());
  int length = 0;
  for (int i = words[1000]; i >= 0 && length <= 256; i = words[i]) length++;
  expect_equal("length of the stack", 0, length, 256);
  std::printf("atomic_ref: right\n");
}
