// Microbenchmarks of what warps and blocks wait for each other: loads of more and more warps, short blocks, loops of
// compare-and-swap, fences. lab/results/h200/queues.csv has the times of an H200. Each case runs twice, and its label
// is printed in the order of the launches. Each kernel of a case is named k_*.
#include "cases.h"

namespace {

constexpr unsigned kSms = 132;
constexpr std::size_t kWords = std::size_t{1} << 30;

// A dependent load of 32 words a round, `stride` words apart; each warp and round has its own.
template <bool kBarrier>
__global__ void k_load(const unsigned* p, std::size_t words, int rounds, unsigned stride, unsigned* out) {
  const std::size_t warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const std::size_t of_round = std::size_t{gridDim.x} * blockDim.x * stride;
  std::size_t from = warp * 32 * stride;
  unsigned at = 0;
  for (int r = 0; r < rounds; ++r) {
    at += __ldcg(p + from + threadIdx.x % 32 * stride + at);  // the words are 0
    if constexpr (kBarrier) __syncthreads();
    from += of_round;
    if (from >= words) from -= words;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void k_copy(const double* from, double* to) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  to[i] = from[i] + 1;
}
__global__ void k_copy_by_shared_memory(const double* from, double* to) {
  __shared__ double s[1024];
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  s[threadIdx.x] = from[i];
  __syncthreads();
  to[i] = s[threadIdx.x ^ 1] + 1;
}
__global__ void k_store(double* to) {
  to[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = 1;
}
__global__ void k_nothing(int* out) {
  if (out != nullptr) *out = 1;
}

__global__ void k_compare_and_swap(unsigned* p, unsigned words, int rounds) {
  unsigned* at = p + (blockIdx.x * blockDim.x + threadIdx.x) % words;
  for (int i = 0; i < rounds; ++i) {
    unsigned old = *at, seen;
    do {
      seen = old;
      old = atomicCAS(at, seen, seen + 1);
    } while (old != seen);
  }
}
__global__ void k_store_and_fence(float* p, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    p[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = static_cast<float>(r);
    __threadfence();
  }
}
__global__ void k_fence(int rounds, float* out) {
  for (int r = 0; r < rounds; ++r) __threadfence();
  if (rounds < 0) *out = 1;
}

void loads(const unsigned* p, unsigned* out) {
  constexpr int kRounds = 32;
  constexpr unsigned kWarpsOfBlock = 8;
  for (const std::size_t mib : {16, 2048})
    for (const unsigned stride : {1u, 8u})
      for (unsigned warps = 1; warps <= 64; warps *= 2) {
        const unsigned of_block = warps < kWarpsOfBlock ? warps : kWarpsOfBlock, blocks = kSms * (warps / of_block);
        const std::size_t words = mib << 18;
        twice(label("load", {mib, stride, warps}),
              [&] { k_load<false><<<blocks, of_block * 32>>>(p, words, kRounds, stride, out); });
        twice(label("load_and_barrier", {mib, stride, warps}),
              [&] { k_load<true><<<blocks, of_block * 32>>>(p, words, kRounds, stride, out); });
      }
}

void short_blocks(double* p) {
  for (const unsigned threads : {64u, 128u, 256u, 512u, 1024u})
    for (const std::size_t n : {std::size_t{1} << 20, std::size_t{1} << 24}) {
      const auto blocks = static_cast<unsigned>(n / threads);
      twice(label("copy", {threads, n}), [&] { k_copy<<<blocks, threads>>>(p, p + n); });
      twice(label("copy_by_shared_memory", {threads, n}),
            [&] { k_copy_by_shared_memory<<<blocks, threads>>>(p, p + n); });
      twice(label("store", {threads, n}), [&] { k_store<<<blocks, threads>>>(p); });
      twice(label("nothing", {threads, n}), [&] { k_nothing<<<blocks, threads>>>(nullptr); });
    }
}

void contention(unsigned* p) {
  for (const unsigned words : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 256u, 1024u, 8192u})
    for (const unsigned blocks : {1u, 32u, kSms})
      for (const unsigned threads : {32u, 256u}) {
        if (words < 16 && blocks * threads > 2000) continue;  // takes milliseconds
        CHECK(cudaMemset(p, 0, 1 << 20));
        twice(label("compare_and_swap", {words, blocks, threads}),
              [&] { k_compare_and_swap<<<blocks, threads>>>(p, words, 2); });
      }
  auto* floats = reinterpret_cast<float*>(p);
  for (const unsigned blocks : {1u, kSms})
    for (const unsigned threads : {32u, 256u, 1024u}) {
      twice(label("store_and_fence", {blocks, threads}), [&] { k_store_and_fence<<<blocks, threads>>>(floats, 16); });
      twice(label("fence", {blocks, threads}), [&] { k_fence<<<blocks, threads>>>(16, floats); });
    }
}

}  // namespace

int main() {
  unsigned* p = nullptr;
  CHECK(cudaMalloc(&p, kWords * sizeof(unsigned)));
  CHECK(cudaMemset(p, 0, kWords * sizeof(unsigned)));
  loads(p, p + kWords / 2 + (kWords >> 3));
  short_blocks(reinterpret_cast<double*>(p));
  contention(p);
  CHECK(cudaFree(p));
}
