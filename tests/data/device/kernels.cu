// Kernels of tests/unit/device_execution_test.cpp. kernels.ptx is made by
//   nvcc -arch=sm_90 -lineinfo -ptx kernels.cu
#include <cassert>
#include <cstdio>

extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void gather(const float* a, const int* index, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[index[i]];
}

extern "C" __global__ void hello(int n) {
  printf("b %d t %d %s %5.2f %lld %p %%\n", blockIdx.x, threadIdx.x, "str", threadIdx.x * 1.5, 1234567890123LL,
         (void*)0x10);
  assert(threadIdx.x < n);
}

extern "C" __global__ void heap(int** out) {
  int* p = (int*)malloc(16);
  p[0] = threadIdx.x;
  out[threadIdx.x] = p;
  if (threadIdx.x & 1) free(p);
}

extern "C" __global__ void oob(float* a, int n) {
  a[threadIdx.x + n] = 1;
}

extern "C" __global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

extern "C" __global__ void deadlock() {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 128;");
  else
    __syncthreads();
}

extern "C" __global__ void gridbar(int* count, int* out) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x] = *(volatile int*)count;
}

__device__ __noinline__ int fibonacci(int k) {
  return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2);
}
extern "C" __global__ void fib(int n, int* out) {
  out[threadIdx.x] = fibonacci(n + threadIdx.x % 3);
}

extern "C" __global__ void local(int* out, int k) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = i * threadIdx.x;
  out[threadIdx.x] = a[(threadIdx.x * 7 + k) & 63];
}

extern "C" __global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = s[0];
}

extern "C" __global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float As[16][16], Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, c = blockIdx.x * 16 + tx;
  float s = 0;
  for (int t = 0; t < n / 16; t++) {
    As[ty][tx] = A[r * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + c];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[r * n + c] = s;
}

extern "C" __global__ void empty() {}

extern "C" __global__ void reduce2(const float* in, float* out) {
  __shared__ float s[256];
  int i = blockIdx.x * 512 + threadIdx.x;
  s[threadIdx.x] = in[i] + in[i + 256];
  __syncthreads();
  for (int k = 128; k; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = s[0];
}
