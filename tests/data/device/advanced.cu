// Kernels of tests/unit/device_advanced_test.cpp. advanced.ptx is made by
//   nvcc -arch=sm_90 -lineinfo -rdc=true -ptx advanced.cu
#include <cooperative_groups.h>

#include <cstdio>

extern "C" __global__ void child(int* out, int base, int depth) {
  out[base + threadIdx.x] += depth;
  if (depth < 3 && threadIdx.x == 0) child<<<1, blockDim.x>>>(out, base, depth + 1);
}

extern "C" __global__ void parent(int* out) {
  if (threadIdx.x == 0) child<<<1, 32>>>(out, blockIdx.x * 32, 1);
  if (threadIdx.x == 1) child<<<1, 32, 0, cudaStreamTailLaunch>>>(out, blockIdx.x * 32, 3);
}

extern "C" __global__ void grid_sync(int* data, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank();
  for (int round = 0; round < 4; ++round) {
    const int next = data[(round & 1) * n + (i + 1) % n];
    data[(1 - (round & 1)) * n + i] = next + 1;
    grid.sync();
  }
}

extern "C" __global__ void reductions(int* out) {
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 100);
  const int any = __syncthreads_or(threadIdx.x == 77);
  if (threadIdx.x == 0) {
    out[0] = count;
    out[1] = all;
    out[2] = any;
  }
}

// Two producers and two consumers a block, by named barriers.
extern "C" __global__ void producer(int* out) {
  __shared__ int box[64];
  for (int i = 0; i < 10; ++i) {
    if (threadIdx.x < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      box[threadIdx.x] = i * 100 + threadIdx.x;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[i * 64 + threadIdx.x - 64] = box[threadIdx.x - 64];
    }
  }
}

extern "C" __global__ void early_exit(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __syncthreads();
  out[i] = i;
}

extern "C" __global__ void lock(int* mutex, int* counter) {
  for (bool done = false; !done;) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      *(volatile int*)counter = *(volatile int*)counter + 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}

extern "C" __global__ void chain(volatile int* flags, int* out) {  // each block waits for the one before
  if (threadIdx.x == 0) {
    if (blockIdx.x > 0)
      while (flags[blockIdx.x - 1] == 0) {
      }
    out[blockIdx.x] = blockIdx.x ? out[blockIdx.x - 1] + 1 : 0;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

__device__ int table[4] = {1, 2, 3, 4};
__constant__ float weights[2] = {0.5f, 0.25f};
__device__ int* pointer = &table[2];
__managed__ int managed_value = 7;
extern "C" __global__ void variables(float* out) {
  out[threadIdx.x] = table[threadIdx.x] + weights[threadIdx.x & 1] + *pointer + managed_value;
}

__device__ int twice(int x) {
  return 2 * x;
}
__device__ int square(int x) {
  return x * x;
}
typedef int (*Function)(int);
__device__ Function functions[2] = {twice, square};
extern "C" __global__ void indirect(int* out) {
  out[threadIdx.x] = functions[threadIdx.x & 1](threadIdx.x);
}

extern "C" __global__ void wide(double2* out, const float4* in, const char* bytes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = in[n - 1 - i];
  out[i] = make_double2(v.x + v.y, v.z + v.w + bytes[3 * i]);
}

extern "C" __global__ void block3d(int* out) {
  const int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[blockIdx.x * blockDim.x * blockDim.y * blockDim.z + i] =
      threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z + 1000000 * blockIdx.x;
}
