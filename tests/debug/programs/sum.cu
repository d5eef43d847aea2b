// A sum over blocks by a tree in shared memory, for tests of the debugger. debugger_test.py names its lines.
#include <cassert>
#include <cstdio>
#include <cstdlib>

struct Point {
  int x, y;
  float weight[3];
};
enum class Kind { plain, square };
template <class T>
struct Pair {
  T first, second;
};
__constant__ float scale = 2.0f;
__device__ int counter;

template <class T>
__device__ T square(T v) {
  T r = v * v;
  return r;
}

__global__ void sum(const float* in, float* out, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Point p = {i, 2 * i, {1.0f, 2.0f, 3.0f}};
  Pair<double> pair = {i * 0.5, -1.0};
  Kind kind = i % 2 ? Kind::square : Kind::plain;
  float v = i < n ? in[i] : 0.0f;
  tile[threadIdx.x] = square(v) * scale;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = tile[0] + p.weight[0] + static_cast<float>(pair.second) + static_cast<int>(kind);
    atomicAdd(&counter, p.y);
  }
}

__global__ void faults(int* data, int how) {
  int lane = threadIdx.x;
  if (how == 1) data[lane + 100000] = lane;
  if (how == 2) assert(lane != 7);
  if (how == 3 && lane == 9) __trap();
  data[lane] = lane;
}

int main(int argc, char** argv) {
  const int n = 256;
  float *in, *out, host[n], result[4];
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i % 7);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<4, 64>>>(in, out, n);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
  if (argc > 1) {
    faults<<<1, 32>>>(reinterpret_cast<int*>(in), std::atoi(argv[1]));
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  }
  return 0;
}
