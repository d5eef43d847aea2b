// AVX-512 support: the intrinsics, a target attribute and a check of the CPU. All other code is built for x86-64-v3.
#pragma once

#include <immintrin.h>

// For functions that run only if kHaveAvx512.
#define WG_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

namespace warpgrind {

inline const bool kHaveAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");

}  // namespace warpgrind
