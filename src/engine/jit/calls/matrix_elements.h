// Conversion of matrix elements between the packed format of PTX and the numbers that are multiplied.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// Bits of one matrix element of this type (a tf32 is stored in 32; e3m2, e2m3 and e2m1 in 8). e2m1x2: packed e2m1, two
// in a byte.
unsigned matrix_element_bits(ptx::ScalarType type);

// Converts `count` (a multiple of 8) packed elements of `type` to the numbers that the tensor core multiplies.
void unpack_matrix(float* out, const void* in, unsigned count, ptx::ScalarType type);
void unpack_matrix(double* out, const void* in, unsigned count, ptx::ScalarType type);
void unpack_matrix(std::int32_t* out, const void* in, unsigned count, ptx::ScalarType type);

// Converts `count` (a multiple of 8) sums to elements of the result. A NaN becomes the NaN of the tensor core. `out`
// may equal `in`.
void pack_matrix(void* out, const float* in, unsigned count, ptx::ScalarType type);  // f16, f32
void pack_matrix(void* out, const double* in, unsigned count, ptx::ScalarType type);
void pack_matrix(void* out, const std::int32_t* in, unsigned count, ptx::ScalarType type);

}  // namespace warpgrind::jit
