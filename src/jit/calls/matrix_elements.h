// Elements of the matrix instructions: packed as programs have them, and as the numbers that are multiplied.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// Bits of one element of a matrix of this type (tf32 is kept in 32).
unsigned matrix_element_bits(ptx::ScalarType type);

// `count` packed elements of `type` (a multiple of 8) as the numbers that the tensor core multiplies.
void unpack_matrix(float* out, const void* in, unsigned count, ptx::ScalarType type);
void unpack_matrix(double* out, const void* in, unsigned count, ptx::ScalarType type);
void unpack_matrix(std::int32_t* out, const void* in, unsigned count, ptx::ScalarType type);

// Sums as elements of a result (a multiple of 8). A NaN becomes the one that the tensor core makes.
// `out` may be `in`.
void pack_matrix(void* out, const float* in, unsigned count, ptx::ScalarType type);  // f16, f32
void pack_matrix(void* out, const double* in, unsigned count, ptx::ScalarType type);
void pack_matrix(void* out, const std::int32_t* in, unsigned count, ptx::ScalarType type);

}  // namespace warpgrind::jit
