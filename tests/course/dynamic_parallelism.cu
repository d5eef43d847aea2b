// Kernels that launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"): a recursive quicksort with
// streams of its own, nested launches of templates, tail and fire-and-forget launches, dynamic shared memory, errors.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "check.h"

#define CHECK_LAUNCH(launch)                            \
  do {                                                  \
    launch;                                             \
    if (cudaGetLastError() != cudaSuccess) *failed = 1; \
  } while (0)

// ---- Quicksort: each half in a stream of its own, small ones by selection.
constexpr int kMostDepth = 16, kSmall = 32;

__device__ void selection_sort(unsigned* data, int left, int right) {
  for (int i = left; i <= right; i++) {
    int least = i;
    for (int j = i + 1; j <= right; j++)
      if (data[j] < data[least]) least = j;
    const unsigned t = data[i];
    data[i] = data[least];
    data[least] = t;
  }
}

__global__ void quicksort(unsigned* data, int left, int right, int depth) {
  if (depth >= kMostDepth || right - left <= kSmall) {
    selection_sort(data, left, right);
    return;
  }
  unsigned *l = data + left, *r = data + right;
  const unsigned pivot = data[(left + right) / 2];
  while (l <= r) {
    while (*l < pivot) l++;
    while (*r > pivot) r--;
    if (l > r) break;
    const unsigned t = *l;
    *l++ = *r;
    *r-- = t;
  }
  const int next_right = r - data, next_left = l - data;
  if (left < next_right) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(data, left, next_right, depth + 1);
    cudaStreamDestroy(s);
  }
  if (next_left < right) {
    cudaStream_t s1;
    cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s1>>>(data, next_left, right, depth + 1);
    cudaStreamDestroy(s1);
  }
}

// ---- Templates, with arguments given and deduced, of structures, booleans and doubles; a kernel of this file alone.
struct Range {
  short from;
  double step;
};

namespace tools {
template <class T, int N>
__global__ void fill(T* out, Range range, bool negative, T first) {
  const int i = blockIdx.x * N + threadIdx.x;
  const T value = first + static_cast<T>(range.from + i * range.step);
  out[i] = negative ? -value : value;
}
}  // namespace tools

template <class T>
__global__ void scale(T* data, const T* factor, int n) {
  extern __shared__ unsigned char memory[];
  T* part = reinterpret_cast<T*>(memory);
  part[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) data[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x] * *factor;
}

static __global__ void __launch_bounds__(64) count_up(int* counter) {
  atomicAdd(counter, 1);
}

template <class T>
__global__ void all_of_it(T* data, T* factor, int* counter, int* failed) {
  if (threadIdx.x == 0) {
    tools::fill<T, 32><<<2, 32>>>(data, Range{1, 0.5}, true, T(1));
    scale<<<dim3(1), dim3(64, 1), 64 * sizeof(T), cudaStreamTailLaunch>>>(data, factor, 64);
    CHECK_LAUNCH((count_up<<<3, 64, 0, cudaStreamFireAndForget>>>(counter)));
    if (*counter >= 0)
      count_up<<<1,
                 // half a block
                 32>>>(counter);
    else
      count_up<<<1, 1>>>(nullptr);
  }
}

// ---- A tail launch begins when everything that its parent launched has ended.
__global__ void after(int* order, int* counter) {
  order[0] = *counter;
}
__global__ void before(int* order, int* counter, int* failed) {
  after<<<1, 1, 0, cudaStreamTailLaunch>>>(order, counter);
  for (int k = 0; k < 4; k++) count_up<<<1, 32>>>(counter);
  count_up<<<1, 2048>>>(counter);  // more threads than a block has
  *failed = cudaGetLastError();
}

// ---- Pointers to kernels
__global__ void store(int* to, int value) {
  *to = value;
}
__global__ void by_pointer(int* out) {
  void (*kernel)(int*, int) = store;
  kernel<<<1, 1>>>(out, 41);
  void* buffer = cudaGetParameterBufferV2((void*)store, dim3(1), dim3(1), 0);
  *(int**)buffer = out + 1;
  ((int*)buffer)[2] = 42;
  cudaLaunchDeviceV2(buffer, nullptr);
}

template <class T>
void templates() {
  T *data, *factor;
  int* counts;
  CHECK(cudaMallocManaged(&data, 64 * sizeof(T)));
  CHECK(cudaMallocManaged(&factor, sizeof(T)));
  CHECK(cudaMallocManaged(&counts, 2 * sizeof(int)));
  *factor = 2;
  counts[0] = counts[1] = 0;
  all_of_it<<<1, 32>>>(data, factor, counts, counts + 1);
  CHECK(cudaDeviceSynchronize());
  expect_equal("threads of small launches", 0, counts[0], 3 * 64 + 32);
  expect_equal("errors", 0, counts[1], 0);
  for (int i = 0; i < 64; i++) {
    const T value = T(1) + static_cast<T>(1 + (63 - i) * 0.5);
    expect_equal("scaled", i, data[i], -value * 2);
  }
}

int main() {
  constexpr int kCount = 3000;
  unsigned* data;
  CHECK(cudaMallocManaged(&data, kCount * sizeof(unsigned)));
  unsigned seed = 7;
  for (int i = 0; i < kCount; i++) data[i] = seed = seed * 1664525u + 1013904223u;
  std::vector<unsigned> expected(data, data + kCount);
  std::sort(expected.begin(), expected.end());
  quicksort<<<1, 1>>>(data, 0, kCount - 1, 0);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; i++) expect_equal("sorted", i, data[i], expected[i]);

  templates<float>();
  templates<long long>();

  int* values;
  CHECK(cudaMallocManaged(&values, 4 * sizeof(int)));
  values[0] = values[1] = values[2] = 0;
  before<<<1, 1>>>(values, values + 1, values + 2);
  CHECK(cudaDeviceSynchronize());
  expect_equal("seen by the tail launch", 0, values[0], 4 * 32);
  expect_equal("too many threads", 0, values[2], cudaErrorInvalidConfiguration);

  by_pointer<<<1, 1>>>(values);
  CHECK(cudaDeviceSynchronize());
  expect_equal("by pointer", 0, values[0], 41);
  expect_equal("by buffer", 1, values[1], 42);
  std::printf("dynamic parallelism: right\n");
}
