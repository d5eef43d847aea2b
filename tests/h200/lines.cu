// Microbenchmark of loads whose lanes touch several lines: chains of such loads, one and four at a time, that hit L1 or
// L2, by one to eight warps of an SM. lab/results/h200/lines.csv has the cycles of an H200. Each case runs twice, and
// its label is printed in the order of the launches: lines, warps of a block, blocks, loads at a time, cache (1 or 2).
#include "cases.h"

namespace {

constexpr int kLoads = 512;

template <int kLines, int kCache, int kAtOnce>
__global__ void k_lines(const unsigned* p, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32 % 512;
  unsigned at = warp * 4096 + lane % kLines * 32 + lane / kLines, sum = 0;
  for (int r = 0; r < kLoads / kAtOnce; ++r) {
    unsigned v[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (kCache == 1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[u]) : "l"(p + at + u));
      else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[u]) : "l"(p + at + u));
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) at += v[u];  // the words are 0
    sum += at;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int kLines>
void cases(const unsigned* p, unsigned* out) {
  for (const int warps : {1, 4, 8})
    for (const int blocks : {1, 132}) {
      const auto add = [&](auto kernel, std::size_t at_once, std::size_t cache) {
        const auto n = [](int x) { return static_cast<std::size_t>(x); };
        twice(label("lines", {n(kLines), n(warps), n(blocks), at_once, cache}),
              [&] { kernel<<<blocks, warps * 32>>>(p, out); });
      };
      add(k_lines<kLines, 1, 1>, 1, 1);
      add(k_lines<kLines, 1, 4>, 4, 1);
      add(k_lines<kLines, 2, 1>, 1, 2);
      add(k_lines<kLines, 2, 4>, 4, 2);
    }
}

}  // namespace

int main() {
  unsigned *p = nullptr, *out = nullptr;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  CHECK(cudaMalloc(&p, kBytes));
  CHECK(cudaMemset(p, 0, kBytes));
  CHECK(cudaMalloc(&out, kBytes));
  cases<1>(p, out);
  cases<2>(p, out);
  cases<4>(p, out);
  cases<8>(p, out);
  cases<16>(p, out);
  cases<32>(p, out);
}
