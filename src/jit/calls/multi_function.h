// The multi-function unit of a GPU (MUFU), bit for bit an H200's: what .approx instructions of f32 are made of.
//
// A table holds a quadratic polynomial for each 64th (1/x: 128th) of the argument's significand. Its sum is truncated;
// the square of the offset within a segment lacks the partial products below 2^-15 of a segment. Inputs and results
// that are subnormal are 0.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class MultiFunction : std::uint8_t { reciprocal, reciprocal_root, root, logarithm, exponential, sine, cosine };

// What of the host's CPU the functions are made for: every CPU we run on has AVX2.
enum class VectorExtension : std::uint8_t { avx2, avx512 };
bool has(VectorExtension extension);

// 32 lanes. Sine and cosine take turns, not radians. The results are the same with any extension.
void multi_function(MultiFunction function, VectorExtension extension, float* out, const float* in);

// wg_mufu_NAME(out, in) of 32 lanes, and wg_mufu_NAME_of_one, of which only the first lane counts (8 are read and
// written).
void register_multi_function_symbols();

}  // namespace warpgrind::jit
