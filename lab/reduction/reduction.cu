// Sum of an array of ints, the classic ladder. Each launch leaves one partial sum a block; the same kernel is launched
// on the partial sums until one is left, so any length works.
//
//   reduction [N]      default 1000000
#include "harness/harness.h"

// Threads of a block. The loops ask blockDim, so that the compiler knows the number in the last rung only.
constexpr int kThreads = 256;

// Claim: every second, fourth, ... thread works, so that every warp stays busy with most of its lanes off.
__global__ void reduce_interleaved_divergent(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(kThreads) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (tid % (2 * step) == 0) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: the first threads work, so whole warps are on or off; but they stride through shared memory: bank conflicts.
__global__ void reduce_interleaved(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(kThreads) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    const int index = 2 * step * tid;
    if (index < blockDim.x) sums[index] += sums[index + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: neighbouring threads take neighbouring words: no bank conflicts.
__global__ void reduce_sequential(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(kThreads) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Two elements a thread on the way into shared memory.
__device__ int first_add(const int* in, int n) {
  const long i = blockIdx.x * (2L * kThreads) + threadIdx.x;
  return (i < n ? in[i] : 0) + (i + kThreads < n ? in[i + kThreads] : 0);
}

// Claim: the first addition happens during the load, so half the threads that did nothing else are gone.
__global__ void reduce_first_add(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// The last 64 sums by one warp. Since Volta its lanes need not run in step: what a lane reads must be separated from
// what another writes by __syncwarp, on both sides (the documents' volatile version relies on lockstep and is wrong
// today).
__device__ void last_warp(int* sums, int tid) {
  int sum = sums[tid] + sums[tid + 32];
  for (int step = 16; step > 0; step /= 2) {
    sums[tid] = sum;
    __syncwarp();
    const int other = sums[tid + step];
    __syncwarp();
    sum += other;
  }
  if (tid == 0) sums[0] = sum;
}

// Claim: the last six rounds are one warp's own business: no block barrier for them.
__global__ void reduce_last_warp(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  for (int step = blockDim.x / 2; step > 32; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid < 32) last_warp(sums, tid);
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: with the block size known to the compiler no loop is left: fewer instructions, the same traffic.
template <int kBlock>
__global__ void reduce_unrolled(const int* in, int* out, int n) {
  __shared__ int sums[kBlock];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  if (kBlock >= 512) {
    if (tid < 256) sums[tid] += sums[tid + 256];
    __syncthreads();
  }
  if (kBlock >= 256) {
    if (tid < 128) sums[tid] += sums[tid + 128];
    __syncthreads();
  }
  if (kBlock >= 128) {
    if (tid < 64) sums[tid] += sums[tid + 64];
    __syncthreads();
  }
  if (tid < 32) last_warp(sums, tid);
  if (tid == 0) out[blockIdx.x] = sums[0];
}

namespace {

using Kernel = void (*)(const int*, int*, int);

void run(lab::Report& report, const char* name, Kernel kernel, int per_block, const std::vector<int>& data,
         double expected) {
  lab::DeviceArray<int> values(data), partial(lab::blocks(static_cast<int>(data.size()), per_block)),
      next(partial.bytes() / sizeof(int));
  partial.poison();
  next.poison();
  int* from = values.data();
  int* to = partial.data();
  int* other = next.data();
  int n = static_cast<int>(data.size());
  do {
    const int grid = lab::blocks(n, per_block);
    kernel<<<grid, kThreads>>>(from, to, n);
    CHECK_KERNEL();
    n = grid;
    from = to;
    to = other;
    other = from;
  } while (n > 1);
  std::vector<int> sum(1);
  CHECK_CUDA(cudaMemcpy(sum.data(), from, sizeof(int), cudaMemcpyDeviceToHost));
  report.compare(name, sum, {expected}, {0.0});
}

}  // namespace

int main(int argc, char** argv) {
  const int n = lab::size_argument(argc, argv, 1, 1000000, "the number of elements");
  lab::require_memory(argv[0], 8.0 * n);
  std::vector<int> data(n);
  lab::Random random(4);
  double sum = 0;
  for (int& value : data) sum += value = static_cast<int>(random.bits() % 3) - 1;  // every partial sum fits an int

  std::printf("reduction, n = %d\n", n);
  lab::Report report;
  run(report, "interleaved, divergent", reduce_interleaved_divergent, kThreads, data, sum);
  run(report, "interleaved", reduce_interleaved, kThreads, data, sum);
  run(report, "sequential", reduce_sequential, kThreads, data, sum);
  run(report, "first add during load", reduce_first_add, 2 * kThreads, data, sum);
  run(report, "last warp unrolled", reduce_last_warp, 2 * kThreads, data, sum);
  run(report, "completely unrolled", reduce_unrolled<kThreads>, 2 * kThreads, data, sum);
  return report.exit_code();
}
