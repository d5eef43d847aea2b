// Microbenchmark of loops whose code is larger than an SM's instruction caches: `instructions` multiply-adds a round,
// by one to 32 warps of a block. lab/results/h200/code_size.csv has the cycles of an H200. Each case runs twice, and
// its label is printed in the order of the launches: instructions, warps, blocks, rounds.
#include "cases.h"

namespace {

template <int kInstructions>
struct Body {
  static __device__ __forceinline__ void run(float (&v)[4], float x) {
    Body<kInstructions / 2>::run(v, x);
    Body<kInstructions / 2>::run(v, x);
  }
};
template <>
struct Body<4> {
  static __device__ __forceinline__ void run(float (&v)[4], float x) {
    for (float& f : v) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(x));
  }
};

template <int kInstructions>
__global__ void k_code(float* out, float x, int rounds) {
  float v[4] = {float(threadIdx.x), 1, 2, 3};
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) Body<kInstructions>::run(v, x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3];
}

template <int kInstructions>
void cases(float* out) {
  for (const std::size_t warps : {1, 4, 16, 32})
    for (const std::size_t blocks : {1, 132, 264})
      for (const std::size_t rounds : {1, 2, 16})
        twice(label("code", {kInstructions, warps, blocks, rounds}),
              [&] { k_code<kInstructions><<<blocks, warps * 32>>>(out, 0.5f, static_cast<int>(rounds)); });
}

}  // namespace

int main() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, std::size_t{4} << 20));
  cases<256>(out);
  cases<1024>(out);
  cases<2048>(out);
  cases<4096>(out);
  cases<8192>(out);
  cases<16384>(out);
  cases<32768>(out);
}
