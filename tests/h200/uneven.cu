// Microbenchmarks of warps and blocks that have different amounts of work, and of threads that read or write structures
// word by word. lab/results/h200/uneven.csv has the times of an H200. Each case runs twice, and its label is printed in
// the order of the launches. Each kernel of a case is named k_*.
#include "cases.h"

namespace {

constexpr unsigned kSms = 132;
constexpr std::size_t kWords = std::size_t{1} << 28;

enum Pattern { kEven, kOneWarp, kWarpOfBlock, kBlockOf16, kRamp, kHalving };
const char* const kNames[] = {"even", "one_warp", "a_warp_of_each_block", "a_block_of_16", "ramp", "halving"};

// Rounds of a warp. one_warp: one of the grid has 16 times as many as the others. a_warp_of_each_block: one of each
// block has 8 times as many. a_block_of_16: each 16th block has 8 times as many. ramp: 1 to 8 times, rising with the
// block. halving: half of the warps have `unit` rounds, a quarter twice as many, an eighth four times, ... in no order.
__device__ int rounds_of(Pattern pattern, int unit) {
  const unsigned warp = threadIdx.x / 32, block = blockIdx.x;
  const unsigned id = block * (blockDim.x / 32) + warp;
  switch (pattern) {
    case kOneWarp:
      return id == 5 ? 16 * unit : unit;
    case kWarpOfBlock:
      return warp == 0 ? 8 * unit : unit;
    case kBlockOf16:
      return block % 16 == 3 ? 8 * unit : unit;
    case kRamp:
      return unit + static_cast<int>(7.0f * unit * block / gridDim.x);
    case kHalving:
      return unit << min(9, __clz(static_cast<int>((id + 1) * 2654435761u)));
    default:
      return unit;
  }
}

__global__ void k_arithmetic(Pattern pattern, int unit, float* out) {
  float x = threadIdx.x;
  const int rounds = rounds_of(pattern, unit);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 16; ++i) x = fmaf(x, 0.5f, 1.0f);
  out[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = x;
}

// Dependent loads; each warp and round has words of its own.
__global__ void k_loads(Pattern pattern, int unit, const unsigned* p, unsigned* out) {
  const std::size_t warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const std::size_t of_round = std::size_t{gridDim.x} * blockDim.x;
  std::size_t from = warp * 32;
  unsigned at = 0;
  const int rounds = rounds_of(pattern, unit);
  for (int r = 0; r < rounds; ++r) {
    at += __ldcg(p + from + threadIdx.x % 32 + at);  // the words are 0
    from += of_round;
    if (from >= kWords) from -= kWords;
  }
  out[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = at;
}

// A structure of K words for each thread.
template <int K>
__global__ void k_read_structures(const float* p, float* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < K; ++k) sum += p[i * K + k];
  if (sum == 1) out[i] = sum;  // the words are 0
}
template <int K>
__global__ void k_write_structures(float* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] = 0;
}
template <int K>
__global__ void k_change_structures(const float* p, float* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; ++k) out[i * K + k] += p[i * K + k];
}
// The same words, each of an array of its own.
template <int K>
__global__ void k_change_arrays(const float* p, float* out, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; ++k) out[k * n + i] += p[k * n + i];
}

void uneven(unsigned* p, unsigned* out) {
  for (int pattern = kEven; pattern <= kHalving; ++pattern)
    for (const unsigned blocks : {kSms, 8 * kSms, 64 * kSms})
      for (const unsigned threads : {32u, 256u}) {
        const auto of = static_cast<Pattern>(pattern);
        const std::string name = kNames[pattern];
        twice(label("arithmetic " + name, {blocks, threads}),
              [&] { k_arithmetic<<<blocks, threads>>>(of, 40, reinterpret_cast<float*>(out)); });
        twice(label("loads " + name, {blocks, threads}), [&] { k_loads<<<blocks, threads>>>(of, 12, p, out); });
      }
}

template <int K>
void structures(float* p, float* out) {
  for (const unsigned n : {1u << 17, 1u << 22}) {
    const unsigned blocks = n / 256;
    twice(label("read_structures", {K, n}), [&] { k_read_structures<K><<<blocks, 256>>>(p, out); });
    twice(label("write_structures", {K, n}), [&] { k_write_structures<K><<<blocks, 256>>>(out); });
    twice(label("change_structures", {K, n}), [&] { k_change_structures<K><<<blocks, 256>>>(p, out); });
    twice(label("change_arrays", {K, n}), [&] { k_change_arrays<K><<<blocks, 256>>>(p, out, n); });
  }
}

}  // namespace

int main() {
  unsigned *p = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&p, kWords * sizeof(unsigned)));
  CHECK(cudaMalloc(&out, kWords * sizeof(unsigned)));
  CHECK(cudaMemset(p, 0, kWords * sizeof(unsigned)));
  CHECK(cudaMemset(out, 0, kWords * sizeof(unsigned)));
  uneven(p, out);
  auto *from = reinterpret_cast<float*>(p), *to = reinterpret_cast<float*>(out);
  structures<1>(from, to);
  structures<2>(from, to);
  structures<3>(from, to);
  structures<4>(from, to);
  structures<8>(from, to);
  structures<16>(from, to);
  CHECK(cudaFree(p));
  CHECK(cudaFree(out));
}
