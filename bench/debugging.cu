// Kernels for debugging.py: the time of their launches in debugging mode and without a debugger.
#include <cuda_runtime.h>

#include "measure.h"

namespace {

constexpr int kTile = 16;

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = a[i] + b[i];
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Lanes leave the loop one by one, so that paths split.
__global__ void collatz(const int* in, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long value = in[i];
  int count = 0;
  while (value > 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[i] = count;
}

template <class T>
T* filled(std::size_t count, T (*value)(std::size_t)) {
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = value(i);
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemcpy(memory, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <class T>
T element(const T* memory, std::size_t index) {
  T value{};
  cudaMemcpy(&value, memory + index, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

float small(std::size_t i) {
  return static_cast<float>(i % 8);
}
float zero(std::size_t) {
  return 0;
}
int number(std::size_t i) {
  return static_cast<int>(i % 1000);
}

bench::Work add_work(int size) {
  const std::size_t n = std::size_t(size) * 1024;
  float *a = filled(n, small), *b = filled(n, small), *c = filled(n, zero);
  return {double(n),
          [=] {
            add<<<unsigned(n / 256), 256>>>(a, b, c, int(n));
            cudaDeviceSynchronize();
          },
          [=] { bench::expect(element(c, n - 1), 2 * small(n - 1)); }};
}

bench::Work multiply_work(int n) {
  const std::size_t count = std::size_t(n) * n;
  float *a = filled(count, small), *b = filled(count, small), *c = filled(count, zero);
  return {double(count) * n,
          [=] {
            multiply<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n);
            cudaDeviceSynchronize();
          },
          [=] {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += double(small(std::size_t(n) + k)) * small(std::size_t(k) * n + 1);
            bench::expect(element(c, std::size_t(n) + 1), sum);
          }};
}

bench::Work collatz_work(int size) {
  const std::size_t n = std::size_t(size) * 1024;
  int* in = filled(n, number);
  int* out = filled(n, number);
  return {double(n),
          [=] {
            collatz<<<unsigned(n / 256), 256>>>(in, out, int(n));
            cudaDeviceSynchronize();
          },
          [=] { bench::expect(element(out, 27), 111); }};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::measure(argc, argv, {{"add", add_work}, {"multiply", multiply_work}, {"collatz", collatz_work}});
}
