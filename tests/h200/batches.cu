// Microbenchmark of loads that one warp waits for together: kLoads lines a round that only DRAM has, and the next round
// begins when all have come. lab/results/h200/batches.csv has the times of an H200. Each case runs twice, and its label
// is printed in the order of the launches: distance, blocks, threads, loads.
#include "cases.h"

namespace {

constexpr std::size_t kWords = std::size_t{1} << 31;  // 8 GiB
constexpr int kRounds = 64;

// The load k of a round is `apart` words behind the load k - 1. Warps read neighbouring lines, and a round begins where
// the one before ends.
template <int kLoads>
__global__ void __launch_bounds__(1024)
    k_batch(const unsigned* p, std::size_t apart, std::size_t round, unsigned* out) {
  const unsigned* from = p + blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  unsigned at = 0;
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r) {
    unsigned v[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) v[k] = __ldcg(from + k * apart + at);  // the words are 0
#pragma unroll
    for (int k = 0; k < kLoads; ++k) at += v[k];
    from += round;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

unsigned *g_in, *g_out;
std::size_t g_begin;

// Each launch reads memory that none before it has read.
template <int kLoads>
void batch(const char* kind, std::size_t apart, int blocks, int threads) {
  const std::size_t warps = std::size_t{static_cast<unsigned>(blocks)} * static_cast<unsigned>(threads);
  const std::size_t step = apart == 0 ? warps : apart;
  const std::size_t round = apart == 0 ? warps * kLoads : warps;
  const std::size_t all = step * kLoads + round * kRounds;
  twice(label(kind, {static_cast<unsigned>(blocks), static_cast<unsigned>(threads), kLoads}), [&] {
    if (g_begin + all > kWords) g_begin = 0;
    k_batch<kLoads><<<blocks, threads>>>(g_in + g_begin, step, round, g_out);
    g_begin += all;
  });
}

template <int kLoads>
void sizes(const char* kind, std::size_t apart) {
  for (const int blocks : {1, 16, 132})
    for (const int threads : {32, 256, 1024})
      if (blocks * threads * kLoads <= 132 * 256 * 16) batch<kLoads>(kind, apart, blocks, threads);
}

void all(const char* kind, std::size_t apart) {
  sizes<1>(kind, apart);
  sizes<2>(kind, apart);
  sizes<4>(kind, apart);
  sizes<8>(kind, apart);
  sizes<16>(kind, apart);
}

}  // namespace

int main() {
  CHECK(cudaMalloc(&g_in, kWords * sizeof(unsigned)));
  CHECK(cudaMalloc(&g_out, 132 * 1024 * sizeof(unsigned)));
  CHECK(cudaMemset(g_in, 0, kWords * sizeof(unsigned)));
  all("dense", 0);
  all("pages", std::size_t{5} << 18);  // 5 MiB apart: each in a page of its own
}
