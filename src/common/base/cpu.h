// AVX-512 support: the intrinsics, a target attribute and a check of the CPU. All other code is built for x86-64-v3.
#pragma once

#include <immintrin.h>

#include <cstdlib>

// For functions that run only if kHaveAvx512.
#define WG_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

namespace warpgrind {

// The environment variable WARPGRIND_AVX2 turns AVX-512 off, in our C++ and in the JIT's code: it shows the speed of a
// CPU that has AVX2 alone (bench/openmp_measure.py, bench/bench.py --avx2).
inline const bool kAvx2Alone = std::getenv("WARPGRIND_AVX2") != nullptr;

inline const bool kHaveAvx512 = !kAvx2Alone && __builtin_cpu_supports("avx512f") &&
                                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                                __builtin_cpu_supports("avx512dq");

}  // namespace warpgrind
