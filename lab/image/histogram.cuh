// Counts of each of the 256 brightness values. The bins must be zero before. Blocks of 256 threads.
#pragma once

namespace image {

constexpr int kBins = 256, kHistogramThreads = 256, kPixelsPerThread = 16;

// Claim: every pixel is an atomic on one of 256 words of global memory. In flat areas a whole warp hits the same word.
__global__ void histogram_global(const unsigned char* in, unsigned* bins, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
}

// Claim: each block has its own histogram in shared memory, so global atomics fall to 256 a block for any image.
__global__ void histogram_shared(const unsigned char* in, unsigned* bins, int count) {
  __shared__ unsigned mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// Claim: each warp has its own histogram. Warps of a block no longer compete for a bin, only lanes of one warp do.
__global__ void histogram_warp(const unsigned char* in, unsigned* bins, int count) {
  constexpr int kWarps = kHistogramThreads / 32;
  __shared__ unsigned mine[kWarps][kBins];
  for (int w = 0; w < kWarps; ++w) mine[w][threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[threadIdx.x / 32][in[i]], 1u);
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += mine[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

// Claim: four pixels a load: a quarter of the load requests, each with 4 full sectors instead of 1.
__global__ void histogram_wide(const unsigned char* in, unsigned* bins, int count) {
  constexpr int kWarps = kHistogramThreads / 32;
  __shared__ unsigned mine[kWarps][kBins];
  for (int w = 0; w < kWarps; ++w) mine[w][threadIdx.x] = 0;
  __syncthreads();
  unsigned* const my_warp = mine[threadIdx.x / 32];
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = thread; i < count / 4; i += gridDim.x * blockDim.x) {
    const uchar4 p = reinterpret_cast<const uchar4*>(in)[i];
    atomicAdd(&my_warp[p.x], 1u);
    atomicAdd(&my_warp[p.y], 1u);
    atomicAdd(&my_warp[p.z], 1u);
    atomicAdd(&my_warp[p.w], 1u);
  }
  if (thread < count % 4) atomicAdd(&my_warp[in[count / 4 * 4 + thread]], 1u);
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += mine[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

}  // namespace image
