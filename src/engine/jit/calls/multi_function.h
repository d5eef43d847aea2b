// The multi-function unit of a GPU (MUFU), which computes the .approx instructions of f32. Results equal an H200's bit
// for bit.
//
// A table holds a quadratic polynomial for each 64th (1/x: 128th) of the argument's significand. The sum of its terms
// is truncated. The square of the offset within a segment lacks the partial products below 2^-15 of a segment.
// Subnormal inputs and results count as 0.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class MultiFunction : std::uint8_t { reciprocal, reciprocal_root, root, logarithm, exponential, sine, cosine };

// Vector extension of the host's CPU that a function is compiled for. Every supported CPU has AVX2.
enum class VectorExtension : std::uint8_t { avx2, avx512 };
bool has(VectorExtension extension);

// Computes 32 lanes. Sine and cosine take turns, not radians. Every extension gives the same results.
void multi_function(MultiFunction function, VectorExtension extension, float* out, const float* in);

// wg_mufu_NAME(out, in) for 32 lanes. wg_mufu_NAME_of_one for one: only the first lane counts, but 8 are read and
// written.
void register_multi_function_symbols();

}  // namespace warpgrind::jit
