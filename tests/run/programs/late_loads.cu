// Unordered writes after reads of shared memory, in cases in which the reads are reported late (events/late_loads.h).
// `warpgrind check` must find as many races as the name says.
#include <cstdio>
#include <cstring>

__device__ float read_all(const float* tile, int times) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < times; ++k) sum += tile[k % 32];
  return sum;
}

// Other warps still read when a warp that has finished writes.
__global__ void no_barrier(float* out, int times) {
  __shared__ float tile[256];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float sum = read_all(tile, times);
  if (threadIdx.x >= 224) tile[threadIdx.x - 224] = sum;  // WRITE
  out[threadIdx.x] = sum;
}
__global__ void barrier(float* out, int times) {
  __shared__ float tile[256];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float sum = read_all(tile, times);
  __syncthreads();
  if (threadIdx.x >= 224) tile[threadIdx.x - 224] = sum;
  out[threadIdx.x] = sum;
}
// The barrier is for two warps only, and orders no others.
__global__ void barrier_of_some(float* out, int times) {
  __shared__ float tile[256];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float sum = read_all(tile, times);
  if (threadIdx.x >= 192) asm volatile("bar.sync 1, 64;" ::: "memory");
  if (threadIdx.x >= 224) tile[threadIdx.x - 224] = sum;  // WRITE
  out[threadIdx.x] = sum;
}
// One warp, ordered by __syncwarp().
__global__ void warp_sync(float* out, int times) {
  __shared__ float tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const float sum = read_all(tile, times);
  __syncwarp();
  tile[31 - threadIdx.x] = sum;
  out[threadIdx.x] = sum;
}
__global__ void no_warp_sync(float* out, int times) {
  __shared__ float tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const float sum = read_all(tile, times);
  tile[31 - threadIdx.x] = sum;  // WRITE
  out[threadIdx.x] = sum;
}
// The readers have left the kernel.
__global__ void readers_leave(float* out, int times) {
  __shared__ float tile[256];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float sum = read_all(tile, times);
  out[threadIdx.x] = sum;
  if (threadIdx.x < 224) return;
  tile[threadIdx.x - 224] = sum;  // WRITE
}
__global__ void atomic(float* out, int times) {
  __shared__ float tile[256];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float sum = read_all(tile, times);
  if (threadIdx.x == 255) atomicExch(tile + 5, sum);  // WRITE
  out[threadIdx.x] = sum;
}

int main(int, char** argv) {
  float* out;
  cudaMalloc(&out, 256 * sizeof(float));
  // Fewer reads than the log can hold, and more.
  for (const int times : {4, 2000}) {
    if (!std::strcmp(argv[1], "no_barrier")) no_barrier<<<3, 256>>>(out, times);
    if (!std::strcmp(argv[1], "barrier")) barrier<<<3, 256>>>(out, times);
    if (!std::strcmp(argv[1], "barrier_of_some")) barrier_of_some<<<3, 256>>>(out, times);
    if (!std::strcmp(argv[1], "warp_sync")) warp_sync<<<3, 32>>>(out, times);
    if (!std::strcmp(argv[1], "no_warp_sync")) no_warp_sync<<<3, 32>>>(out, times);
    if (!std::strcmp(argv[1], "readers_leave")) readers_leave<<<3, 256>>>(out, times);
    if (!std::strcmp(argv[1], "atomic")) atomic<<<3, 256>>>(out, times);
  }
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
}
