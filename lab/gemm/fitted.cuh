// Parts that both fitted rungs share: copies that write zeros beyond the end of a matrix and, for doubles, barriers on
// which a warp waits for tiles instead of for all other warps.
#pragma once

#include "gemm/stages.cuh"

// Copies kBytes (4, 8 or 16) to shared memory, or zeros if `absent`: one instruction with a predicate.
template <int kBytes>
__device__ __forceinline__ void copy_or_zero(uint32_t to, const void* from, bool absent) {
  if constexpr (kBytes == 16)
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %2, 0;\n"
        "cp.async.cg.shared.global [%0], [%1], 16, p;}" ::"r"(to),
        "l"(from), "r"(static_cast<int>(absent))
        : "memory");
  else
    asm volatile(
        "{.reg .pred p; setp.ne.s32 p, %2, 0;\n"
        "cp.async.ca.shared.global [%0], [%1], %3, p;}" ::"r"(to),
        "l"(from), "r"(static_cast<int>(absent)), "n"(kBytes)
        : "memory");
}

// Starts part `part` of `parts` of a tile's copies: first the rounds of A, then those of B.
template <class Shape, bool kWhole, class Copy>
__device__ __forceinline__ void start_part(const Copy& copy, int part, int parts, int left) {
  constexpr int kRounds = Shape::kRoundsA + Shape::kRoundsB;
#pragma unroll
  for (int i = 0; i < kRounds; ++i) {
    if (i * parts / kRounds != part) continue;
    if (i < Shape::kRoundsA)
      copy.template round_a<kWhole>(i, left);
    else
      copy.template round_b<kWhole>(i - Shape::kRoundsA, left);
  }
}

// mbarriers: `count` arrivals end a phase. Its parity distinguishes a phase from the next.
__device__ __forceinline__ void init_barrier(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0];}" ::"r"(barrier) : "memory");
}
// Arrives when all copies that this thread has started so far are done.
__device__ __forceinline__ void arrive_after_copies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void await_phase(uint32_t barrier, int parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
