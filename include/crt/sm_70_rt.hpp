// __match_any_sync and __match_all_sync for all types: clang's __clang_cuda_intrinsics.h includes a header of this name
// for them, after it has defined the functions for 32 and 64 bits.
#pragma once

static __device__ __forceinline__ unsigned int wg_bits(float v) {
  return __builtin_bit_cast(unsigned int, v);
}
static __device__ __forceinline__ unsigned long long wg_bits(double v) {
  return __builtin_bit_cast(unsigned long long, v);
}
#define WG_MATCH(type, bits, as)                                                                              \
  static __device__ __forceinline__ unsigned int __match_any_sync(unsigned int mask, type value) {            \
    return __match##bits##_any_sync(mask, as(value));                                                         \
  }                                                                                                           \
  static __device__ __forceinline__ unsigned int __match_all_sync(unsigned int mask, type value, int* pred) { \
    return __match##bits##_all_sync(mask, as(value), pred);                                                   \
  }
WG_MATCH(int, 32, (unsigned int))
WG_MATCH(unsigned int, 32, (unsigned int))
WG_MATCH(long, 64, (unsigned long long))
WG_MATCH(unsigned long, 64, (unsigned long long))
WG_MATCH(long long, 64, (unsigned long long))
WG_MATCH(unsigned long long, 64, (unsigned long long))
WG_MATCH(float, 32, wg_bits)
WG_MATCH(double, 64, wg_bits)
#undef WG_MATCH
