// Latency and rate of instructions, from chains of dependent ones: one chain in a single warp (latency), four in each
// of 32 warps (rate). Avoids sequences that ptxas could merge: equal additions, minima, a conversion and its inverse.
#pragma once

#include "calibrate/measure.h"

namespace calibrate {

constexpr int kUnrolled = 16;

// v: register of the chain; a, b: values unknown to the compiler.
#define CALIBRATE_CHAIN(NAME, TYPE, BODY)                                                              \
  template <int kWays>                                                                                 \
  __global__ void __launch_bounds__(1024) NAME(int rounds, TYPE a, TYPE b, Clock* clocks, TYPE* out) { \
    TYPE x[kWays];                                                                                     \
    for (int j = 0; j < kWays; ++j) x[j] = static_cast<TYPE>(a + static_cast<TYPE>(j + threadIdx.x));  \
    __syncthreads();                                                                                   \
    const Clock begin = clock64();                                                                     \
    for (int i = 0; i < rounds; ++i) {                                                                 \
      _Pragma("unroll") for (int u = 0; u < kUnrolled; ++u) {                                          \
        _Pragma("unroll") for (int j = 0; j < kWays; ++j) {                                            \
          TYPE& v = x[j];                                                                              \
          BODY;                                                                                        \
        }                                                                                              \
      }                                                                                                \
    }                                                                                                  \
    __syncthreads();                                                                                   \
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;                                      \
    TYPE sum = x[0];                                                                                   \
    for (int j = 1; j < kWays; ++j) sum += x[j];                                                       \
    if (rounds < 0) out[threadIdx.x] = sum;                                                            \
  }

using Wide = unsigned long long;
CALIBRATE_CHAIN(logic, int, asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(v) : "r"(a), "r"(b)))
CALIBRATE_CHAIN(multiply_add, int, asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(b)))
CALIBRATE_CHAIN(multiply_wide, Wide,
                asm volatile("{.reg .u32 t; cvt.u32.u64 t, %0; mad.wide.u32 %0, t, 3, %1;}"
                             : "+l"(v)
                             : "l"(b)))
CALIBRATE_CHAIN(multiply_64, Wide, asm volatile("mad.lo.u64 %0, %0, %1, %2;" : "+l"(v) : "l"(a), "l"(b)))
CALIBRATE_CHAIN(fp32_fma, float, asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v) : "f"(a), "f"(b)))
CALIBRATE_CHAIN(fp64_fma, double, asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(v) : "d"(a), "d"(b)))
CALIBRATE_CHAIN(fp16_fma, unsigned, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(b)))
CALIBRATE_CHAIN(exponential, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v)))
CALIBRATE_CHAIN(population, int, asm volatile("popc.b32 %0, %0;" : "+r"(v)))
CALIBRATE_CHAIN(float_to_int, float, asm volatile("{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}" : "+f"(v)))
CALIBRATE_CHAIN(int_to_float, int, asm volatile("{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}" : "+r"(v)))
CALIBRATE_CHAIN(float_to_double, float,
                asm volatile("{.reg .f64 t; .reg .b32 l; cvt.f64.f32 t, %0; mov.b64 {l, %0}, t;}"
                             : "+f"(v)))
CALIBRATE_CHAIN(shuffle, int, asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 0x1f, 0xffffffff;" : "+r"(v) : "r"(b)))
CALIBRATE_CHAIN(fp32_divide, float, asm volatile("div.rn.f32 %0, %0, %1;" : "+f"(v) : "f"(b)))
CALIBRATE_CHAIN(fp32_root, float, asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(v)))
CALIBRATE_CHAIN(fp64_divide, double, asm volatile("div.rn.f64 %0, %0, %1;" : "+d"(v) : "d"(b)))
// The divisor is the last result, so nothing can be prepared outside the loop. The `or` keeps it from zero.
CALIBRATE_CHAIN(integer_divide, int,
                asm volatile("{.reg .s32 t; or.b32 t, %0, 1; div.s32 %0, %1, t;}"
                             : "+r"(v)
                             : "r"(a)))
CALIBRATE_CHAIN(barrier, int, asm volatile("bar.sync 0;"))

// Tensor cores: the chain goes through the accumulators.
template <int kWays>
__global__ void __launch_bounds__(1024) tensor(int rounds, float a, float, Clock* clocks, float* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  float c[kWays][4];
  for (auto& chain : c)
    for (float& v : chain) v = a;
  const unsigned halves = threadIdx.x;
  __syncthreads();
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int u = 0; u < kUnrolled; ++u)
#pragma unroll
      for (int j = 0; j < kWays; ++j)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
            : "r"(halves));
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  float sum = 0;
  for (const auto& chain : c)
    for (const float v : chain) sum += v;
  if (rounds < 0) out[threadIdx.x] = sum;
#endif
}
template <int kWays>
__global__ void __launch_bounds__(1024) tensor_fp64(int rounds, double a, double b, Clock* clocks, double* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  double c[kWays][2];
  for (auto& chain : c)
    for (double& v : chain) v = a;
  __syncthreads();
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int u = 0; u < kUnrolled; ++u)
#pragma unroll
      for (int j = 0; j < kWays; ++j)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(c[j][0]), "+d"(c[j][1])
                     : "d"(a), "d"(b));
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  double sum = 0;
  for (const auto& chain : c) sum += chain[0] + chain[1];
  if (rounds < 0) out[threadIdx.x] = sum;
#endif
}

// Cycles of one instruction: alone (latency), and with all warps of an SM together (the unit's share).
struct Pace {
  double latency = 0, busy = 0;
};

template <class T, class Kernel>
double chain_cycles(Bench& b, const char* name, Kernel kernel, int ways, int warps, T first, T second) {
  const int rounds = b.many(256, 1), blocks = b.dry ? 1 : b.sms;
  const Sample s = b.time(
      [&] { kernel<<<blocks, 32 * warps>>>(rounds, first, second, b.clocks.data(), reinterpret_cast<T*>(b.data)); },
      Before::busy, blocks);
  const double cycles = s.cycles / (rounds * kUnrolled * ways);
  b.report.row("instruction", text("%s;ways=%d;warps=%d", name, ways, warps), s, cycles, "cycle a round");
  return cycles;
}
#define CALIBRATE_PACE(KERNEL, TYPE, A, B)                                                                             \
  Pace {                                                                                                               \
    chain_cycles<TYPE>(b, #KERNEL, KERNEL<1>, 1, 1, A, B), chain_cycles<TYPE>(b, #KERNEL, KERNEL<4>, 4, 32, A, B) / 32 \
  }

inline void lanes(Bench& b, const Pace& pace, Figure latency, Figure rate) {
  b.report.set(latency, pace.latency);
  b.report.set(rate, 32 / pace.busy);
}

inline void arithmetic(Bench& b) {
  lanes(b, CALIBRATE_PACE(logic, int, 5, 3), Figure::integer_latency_cycles, Figure::integer_lanes);
  b.report.set(Figure::integer_multiply_lanes, 32 / CALIBRATE_PACE(multiply_add, int, 5, 3).busy);
  b.report.set(Figure::wide_multiply_latency_cycles, CALIBRATE_PACE(multiply_wide, Wide, 5, 3).latency);
  lanes(b, CALIBRATE_PACE(multiply_64, Wide, 5, 3), Figure::multiply64_latency_cycles, Figure::multiply64_lanes);
  lanes(b, CALIBRATE_PACE(fp32_fma, float, 1.f, 1e-3f), Figure::fp32_latency_cycles, Figure::fp32_lanes);
  lanes(b, CALIBRATE_PACE(fp64_fma, double, 1., 1e-3), Figure::fp64_latency_cycles, Figure::fp64_lanes);
  // Pairs of halves: 1 and 1/1024.
  const Pace pairs = CALIBRATE_PACE(fp16_fma, unsigned, 0x3c003c00u, 0x14001400u);  // its latency is only a row
  b.report.set(Figure::fp16_pair_lanes, 32 / pairs.busy);
  lanes(b, CALIBRATE_PACE(exponential, float, .1f, 1.f), Figure::special_latency_cycles, Figure::special_lanes);
  static_cast<void>(CALIBRATE_PACE(population, int, 5, 3));  // only a row of the results, no figure
  lanes(b, CALIBRATE_PACE(float_to_int, float, .1f, 1.f), Figure::conversion_latency_cycles, Figure::conversion_lanes);
  b.report.set(Figure::integer_to_float_lanes, 32 / CALIBRATE_PACE(int_to_float, int, 5, 3).busy);
  lanes(b, CALIBRATE_PACE(float_to_double, float, 1.5f, 1.f), Figure::fp64_conversion_latency_cycles,
        Figure::fp64_conversion_lanes);
  const Pace shuffled = CALIBRATE_PACE(shuffle, int, 5, 3);
  b.report.set(Figure::shuffle_latency_cycles, shuffled.latency);
  b.report.set(Figure::shuffle_cycles, shuffled.busy);
}

inline void sequences(Bench& b) {
  // The rows also have the time with all warps of an SM together.
  const auto set = [&](const Pace& p, Figure cycles, double more = 0) { b.report.set(cycles, p.latency - more); };
  set(CALIBRATE_PACE(fp32_divide, float, 1.f, 1.001f), Figure::fp32_division_cycles);
  set(CALIBRATE_PACE(fp32_root, float, 1.f, 1.001f), Figure::fp32_root_cycles);
  set(CALIBRATE_PACE(fp64_divide, double, 1., 1.001), Figure::fp64_division_cycles);
  set(CALIBRATE_PACE(integer_divide, int, 2000000011, 3), Figure::integer_division_cycles,
      b.report[Figure::integer_latency_cycles]);
}

inline void tensors(Bench& b) {
  if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 8) return;
  const Pace half = CALIBRATE_PACE(tensor, float, 1.f, 1.f);
  b.report.set(Figure::tensor_latency_cycles, half.latency);
  b.report.set(Figure::tensor_cycles, half.busy);
  const Pace full = CALIBRATE_PACE(tensor_fp64, double, 1., 1.);
  b.report.set(Figure::tensor_fp64_latency_cycles, full.latency);
  b.report.set(Figure::tensor_fp64_cycles, full.busy);
}

inline void barriers(Bench& b) {
  double small = 0, large = 0;
  for (const int warps : {1, 4, 8, 16, 32}) {
    const double cycles = chain_cycles<int>(b, "barrier", barrier<1>, 1, warps, 5, 3);
    if (warps == 4) small = cycles;
    if (warps == 32) large = cycles;
  }
  const double each = (large - small) / 28;
  b.report.set(Figure::barrier_cycles_per_warp, each);
  b.report.set(Figure::barrier_cycles, small - 4 * each);
  const int rounds = b.many(32, 1), blocks = b.dry ? 2 : 2 * b.sms;
  const Sample s =
      b.time([&] { barrier<1><<<blocks, 1024>>>(rounds, 5, 3, b.clocks.data(), reinterpret_cast<int*>(b.data)); },
             Before::busy, blocks);
  b.report.set(Figure::barrier_sm_cycles_per_warp, s.cycles / (rounds * kUnrolled) / 64);
}

// A divergent branch against the same branch taken by all lanes. The sides are too long for predication.
template <bool kWork>
__global__ void branches(int rounds, unsigned mask, unsigned match, float a, float b, Clock* clocks, float* out) {
  float x = a + threadIdx.x;
  const Clock begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    if ((threadIdx.x & mask) == match) {
      if (kWork) {
#pragma unroll
        for (int u = 0; u < 40; ++u) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
      }
    } else {
      if (kWork) {
#pragma unroll
        for (int u = 0; u < 40; ++u) asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(b));
      }
    }
    __syncwarp();
  }
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (rounds < 0) out[threadIdx.x] = x;
}

inline void divergence(Bench& b) {
  const int rounds = b.many(256, 2);
  const auto cycles = [&](const char* name, auto kernel, unsigned mask, unsigned match) {
    const Sample s = b.time(
        [&] { kernel<<<1, 32>>>(rounds, mask, match, 1.f, 1e-3f, b.clocks.data(), reinterpret_cast<float*>(b.data)); },
        Before::busy, 1);
    b.report.row("instruction", text("branch;%s", name), s, s.cycles / rounds, "cycle a round");
    return s.cycles / rounds;
  };
  cycles("no work", branches<false>, 1, 0);
  cycles("all first", branches<true>, 0, 0);
  cycles("all second", branches<true>, 0, 1);
  cycles("both", branches<true>, 1, 0);
}

inline void instructions(Bench& b) {
  arithmetic(b);
  sequences(b);
  tensors(b);
  barriers(b);
  divergence(b);
}

}  // namespace calibrate
