// Vector instructions: intrinsics, and what the machine's CPU has beyond x86-64-v3, which all of our code is built for.
#pragma once

#include <immintrin.h>

// Of a function that only runs where kHaveAvx512.
#define WG_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

namespace warpgrind {

inline const bool kHaveAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");

}  // namespace warpgrind
