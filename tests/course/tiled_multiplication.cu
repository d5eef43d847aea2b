// Matrix multiplication by tiles in shared memory, with C++ around it: templates, a lambda as kernel argument.
#include <vector>

#include "check.h"

constexpr int kTile = 16;

template <class T, int tile, class Epilogue>
__global__ void __launch_bounds__(tile* tile) multiply(const T* a, const T* b, T* c, int n, Epilogue epilogue) {
  __shared__ T as[tile][tile], bs[tile][tile + 1];
  const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  T sum = 0;
  for (int t = 0; t < n; t += tile) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < tile; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = epilogue(sum);
}

template <class T>
void run(const char* name) {
  const int n = 64;
  std::vector<T> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = T(i % 7), b[i] = T(i % 5 - 2);
  T* device;
  CHECK(cudaMalloc(&device, 3 * n * n * sizeof(T)));
  CHECK(cudaMemcpy(device, a.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device + n * n, b.data(), n * n * sizeof(T), cudaMemcpyHostToDevice));
  const T scale = 2;
  multiply<T, kTile><<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(
      device, device + n * n, device + 2 * n * n, n, [scale] __device__(T v) { return scale * v + T(1); });
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), device + 2 * n * n, n * n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += double(a[y * n + k]) * double(b[k * n + x]);
      expect_equal(name, y * n + x, double(c[y * n + x]), 2 * sum + 1);
    }
  CHECK(cudaFree(device));
}

int main() {
  run<float>("float");
  run<double>("double");
  run<int>("int");
  std::printf("tiled multiplication: right\n");
}
