// The GPU's clocks.
//   clocks waits     kernels that wait for a number of cycles or nanoseconds
//   clocks values    the values that threads read, the same in every run
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__device__ unsigned long long nanoseconds() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
__device__ unsigned sm() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void wait_cycles(long long cycles, long long* waited) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  waited[threadIdx.x] = clock64() - begin;
}
__global__ void wait_nanoseconds(unsigned long long ns, unsigned long long* waited) {
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() - begin < ns) {
  }
  waited[threadIdx.x] = nanoseconds() - begin;
}
__global__ void sleep(unsigned* waited) {
  const unsigned long long begin = nanoseconds();
#if __CUDA_ARCH__ >= 700
  asm volatile("nanosleep.u32 1000;");
#endif
  waited[threadIdx.x] = static_cast<unsigned>(nanoseconds() - begin);
}
// Each thread's clock is after those of all warps that it has waited for.
__global__ void meet(long long* before, long long* after) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < threadIdx.x / 32 * 100; ++i) asm volatile("membar.cta;");
  before[thread] = clock64();
  __syncthreads();
  after[thread] = clock64();
}
// First and last clock of each block, and its SM.
__global__ void blocks(unsigned* where, long long* begin, long long* end) {
  if (threadIdx.x == 0) begin[blockIdx.x] = clock64();
  __syncthreads();
  if (threadIdx.x == 0) end[blockIdx.x] = clock64();
  if (threadIdx.x == 0) where[blockIdx.x] = sm();
}

template <class T>
T* managed(int n) {
  T* p = nullptr;
  return cudaMallocManaged(&p, n * sizeof(T)) == cudaSuccess ? p : nullptr;
}

static int waits() {
  auto* cycles = managed<long long>(32);
  auto* ns = managed<unsigned long long>(32);
  auto* slept = managed<unsigned>(32);
  wait_cycles<<<1, 32>>>(1000000, cycles);
  wait_nanoseconds<<<1, 32>>>(1000000, ns);
  sleep<<<1, 32>>>(slept);
  std::printf("run: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("cycles: %s\n", cycles[0] >= 1000000 && cycles[0] < 1001000 ? "as asked" : "other");
  std::printf("nanoseconds: %s\n", ns[0] >= 1000000 && ns[0] < 1001000 ? "as asked" : "other");
  std::printf("sleep: %s\n", slept[0] >= 1000 && slept[0] < 1100 ? "as asked" : "other");
  return 0;
}

static int values() {
  constexpr int kThreads = 256, kBlocks = 600;
  auto *before = managed<long long>(kThreads), *after = managed<long long>(kThreads);
  auto *begin = managed<long long>(kBlocks), *end = managed<long long>(kBlocks);
  auto* where = managed<unsigned>(kBlocks);
  meet<<<1, kThreads>>>(before, after);
  blocks<<<kBlocks, 64>>>(where, begin, end);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  long long latest = 0, earliest = after[0];
  for (int i = 0; i < kThreads; ++i) latest = before[i] > latest ? before[i] : latest;
  for (int i = 0; i < kThreads; ++i) earliest = after[i] < earliest ? after[i] : earliest;
  std::printf("barrier: %s\n", earliest >= latest && latest > before[0] ? "in order" : "not in order");
  int wrong = 0;
  for (int i = 0; i < kBlocks; ++i) wrong += end[i] <= begin[i] || begin[i] < earliest;
  for (int i = 0; i < kBlocks; ++i)
    for (int j = i + 1; j < kBlocks; ++j) wrong += where[i] == where[j] && begin[j] < end[i];
  std::printf("blocks: %d wrong\n", wrong);
  for (int i = 0; i < kThreads; i += 32) std::printf("%lld %lld\n", before[i], after[i]);
  for (int i = 0; i < kBlocks; i += 50) std::printf("%u %lld %lld\n", where[i], begin[i], end[i]);
  return 0;
}

int main(int argc, char** argv) {
  return argc > 1 && !std::strcmp(argv[1], "waits") ? waits() : values();
}
