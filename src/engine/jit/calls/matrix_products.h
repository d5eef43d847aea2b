// Common arithmetic of mma, wmma and wgmma: products of dense matrices, and sums in the registers of a warp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// sums += a * b. a (rows x depth) and sums (rows x columns) are stored row by row. b is stored by depth: for each depth
// all columns side by side. rows and columns are multiples of 8. Each sum adds the products in the order of depth, with
// one rounding per product.
void add_products(float* sums, const float* a, const float* b, unsigned rows, unsigned columns, unsigned depth);
void add_products(double* sums, const double* a, const double* b, unsigned rows, unsigned columns, unsigned depth);
void add_products(std::int32_t* sums, const std::int32_t* a, const std::int32_t* b, unsigned rows, unsigned columns,
                  unsigned depth);

// b1: counts the bits that are 1 in both a's row and b's column (`both`), or that differ. `words`: 32-bit words of a
// row and of a column.
void add_bit_counts(std::int32_t* sums, const std::uint32_t* a, const std::uint32_t* b, unsigned rows, unsigned columns,
                    unsigned words, bool both);

// to[k * columns + j] = from[j * depth + k]; columns is a multiple of 8.
void transpose_columns(float* to, const float* from, unsigned columns, unsigned depth);
void transpose_columns(double* to, const double* from, unsigned columns, unsigned depth);
void transpose_columns(std::int32_t* to, const std::int32_t* from, unsigned columns, unsigned depth);

// sums += before, modulo 2^32 or clamped to the range of s32 (.satfinite).
void add_integers(std::int32_t* sums, const std::int32_t* before, std::size_t count, bool saturate);

// C and D of mma and wgmma in registers. PTX ISA, "Matrix Fragments for mma.*" and "Register Fragments and Shared
// Memory Matrix Layouts": lane l holds columns 2*(l%4) and 2*(l%4)+1 of each group of 8 columns. It holds them for row
// l/4 and, with 16 rows, also for row l/4 + 8. So the pairs of four neighbouring lanes are 8 columns of a row.
// Registers are planes of 32 words: f16 two columns a word, f32 and s32 a word each, f64 64-bit words. rows: 8 or 16. A
// NaN is written as the NaN of the tensor core.
void read_sums(float* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void read_sums(double* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void read_sums(std::int32_t* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const float* sums, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const double* sums, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const std::int32_t* sums, unsigned rows, unsigned columns, ptx::ScalarType type);

}  // namespace warpgrind::jit
