// CUB's block and warp algorithms on random input: one hash of every result a row. The same on every GPU, and recorded
// on one (block_algorithms.expected).
#include <cstdint>
#include <cstdio>
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <vector>

template <class T>
__host__ __device__ T value(unsigned seed, unsigned i) {
  std::uint64_t x = (static_cast<std::uint64_t>(seed) << 32 | i) + 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  x ^= x >> 31;
  return static_cast<T>(static_cast<std::int64_t>(x) >> 40);  // a float holds it
}

// Each algorithm fills `out` with what its threads got; `in` are their items, blocked.
#define ALGORITHM(name)                                            \
  template <class T, int kThreads, int kItems>                     \
  struct name {                                                    \
    static __device__ void run(T (&in)[kItems], T (&out)[kItems]); \
  };                                                               \
  template <class T, int kThreads, int kItems>                     \
  __device__ void name<T, kThreads, kItems>::run(T(&in)[kItems], T(&out)[kItems])

struct Largest {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

ALGORITHM(reduce_raking) {
  using Block = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Block::TempStorage storage;
  T sum = Block(storage).Sum(in);
  for (int k = 0; k < kItems; ++k) out[k] = threadIdx.x == 0 ? sum : T(0);
}
ALGORITHM(reduce_warps) {
  using Block = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ typename Block::TempStorage storage;
  T largest = Block(storage).Reduce(in, Largest{});
  for (int k = 0; k < kItems; ++k) out[k] = threadIdx.x == 0 ? largest : T(0);
}
ALGORITHM(scan_inclusive) {
  using Block = cub::BlockScan<T, kThreads>;
  __shared__ typename Block::TempStorage storage;
  Block(storage).InclusiveSum(in, out);
}
ALGORITHM(scan_warps) {
  using Block = cub::BlockScan<T, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Block::TempStorage storage;
  Block(storage).ExclusiveScan(in, out, T(-5), Largest{});
}
ALGORITHM(radix_sort) {
  using Block = cub::BlockRadixSort<T, kThreads, kItems>;
  __shared__ typename Block::TempStorage storage;
  for (int k = 0; k < kItems; ++k) out[k] = in[k];
  Block(storage).Sort(out);
}
ALGORITHM(merge_sort) {
  using Block = cub::BlockMergeSort<T, kThreads, kItems>;
  __shared__ typename Block::TempStorage storage;
  for (int k = 0; k < kItems; ++k) out[k] = in[k];
  Block(storage).Sort(out, [](const T& a, const T& b) { return a > b; });
}
ALGORITHM(exchange) {
  using Block = cub::BlockExchange<T, kThreads, kItems>;
  __shared__ typename Block::TempStorage storage;
  Block(storage).BlockedToStriped(in, out);
}
ALGORITHM(differences) {
  using Block = cub::BlockAdjacentDifference<T, kThreads>;
  __shared__ typename Block::TempStorage storage;
  Block(storage).SubtractLeft(in, out, [](const T& a, const T& b) { return a - b; });
}
ALGORITHM(heads) {
  using Block = cub::BlockDiscontinuity<T, kThreads>;
  __shared__ typename Block::TempStorage storage;
  int flags[kItems];
  T few[kItems];
  for (int k = 0; k < kItems; ++k) few[k] = in[k] < T(0) ? T(0) : T(1);
  Block(storage).FlagHeads(flags, few, [](const T& a, const T& b) { return a != b; });
  for (int k = 0; k < kItems; ++k) out[k] = T(flags[k]);
}
ALGORITHM(shuffle) {
  using Block = cub::BlockShuffle<T, kThreads>;
  __shared__ typename Block::TempStorage storage;
  Block(storage).Up(in, out);
  if (threadIdx.x == 0) out[0] = T(0);
}
ALGORITHM(warp_reduce) {
  using Warp = cub::WarpReduce<T, 8>;
  __shared__ typename Warp::TempStorage storage[kThreads / 8];
  for (int k = 0; k < kItems; ++k) {
    const T sum = Warp(storage[threadIdx.x / 8]).Sum(in[k]);
    out[k] = threadIdx.x % 8 == 0 ? sum : T(0);
    __syncwarp();
  }
}
ALGORITHM(warp_scan) {
  using Warp = cub::WarpScan<T, 16>;
  __shared__ typename Warp::TempStorage storage[kThreads / 16];
  for (int k = 0; k < kItems; ++k) {
    Warp(storage[threadIdx.x / 16]).InclusiveScan(in[k], out[k], Largest{});
    __syncwarp();
  }
}
ALGORITHM(warp_merge_sort) {
  using Warp = cub::WarpMergeSort<T, kItems, 32>;
  __shared__ typename Warp::TempStorage storage[kThreads / 32];
  for (int k = 0; k < kItems; ++k) out[k] = in[k];
  Warp(storage[threadIdx.x / 32]).Sort(out, [](const T& a, const T& b) { return a < b; });
}

template <template <class, int, int> class Algorithm, class T, int kThreads, int kItems>
__global__ void kernel(unsigned seed, T* result) {
  T in[kItems], out[kItems] = {};
  const unsigned first = (blockIdx.x * kThreads + threadIdx.x) * kItems;
  for (int k = 0; k < kItems; ++k) in[k] = value<T>(seed, first + k);
  Algorithm<T, kThreads, kItems>::run(in, out);
  for (int k = 0; k < kItems; ++k) result[first + k] = out[k];
}

template <template <class, int, int> class Algorithm, class T, int kThreads, int kItems>
void run(const char* name) {
  constexpr int kBlocks = 2, kValues = kBlocks * kThreads * kItems;
  std::printf("%s %zu x %d x %d", name, sizeof(T), kThreads, kItems);
  T* device = nullptr;
  cudaMalloc(&device, kValues * sizeof(T));
  for (unsigned seed = 1; seed <= 3; ++seed) {
    kernel<Algorithm, T, kThreads, kItems><<<kBlocks, kThreads>>>(seed, device);
    std::vector<T> host(kValues);
    const cudaError_t e = cudaMemcpy(host.data(), device, kValues * sizeof(T), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) return void(std::printf(" %s\n", cudaGetErrorString(e)));
    std::uint32_t hash = 2166136261u;
    const auto* bytes = reinterpret_cast<const unsigned char*>(host.data());
    for (std::size_t k = 0; k < kValues * sizeof(T); ++k) hash = (hash ^ bytes[k]) * 16777619u;
    std::printf(" %08x", hash);
  }
  std::printf("\n");
  cudaFree(device);
}

template <template <class, int, int> class Algorithm, int kOddThreads = 96>
void shapes(const char* name) {
  run<Algorithm, int, 64, 3>(name);
  run<Algorithm, unsigned long long, 128, 2>(name);
  run<Algorithm, float, kOddThreads, 4>(name);
}

int main() {
#define RUN(name) shapes<name>(#name)
  RUN(reduce_raking);
  RUN(reduce_warps);
  RUN(scan_inclusive);
  RUN(scan_warps);
  RUN(radix_sort);
  shapes<merge_sort, 32>("merge_sort");  // a power of two
  RUN(exchange);
  RUN(differences);
  RUN(heads);
  RUN(shuffle);
  RUN(warp_reduce);
  RUN(warp_scan);
  RUN(warp_merge_sort);
}
